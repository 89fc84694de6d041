import type { HouseStyle } from './types.ts';

/** What generated text looks like when a folder says nothing else. */
export const defaultStyle: HouseStyle = {
  keywordCase: 'upper',
  comma: 'trailing',
  brackets: 'always',
  procedureSchema: null,
  header: [],
  hooks: {},
};
