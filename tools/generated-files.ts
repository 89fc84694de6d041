/** A file of the repository that is written from the sources; `tools/docs.mjs` writes it, `npm run check` compares it. */
export interface GeneratedDocument {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  /** The whole new text, made from the text that is there (null when the file is missing). */
  readonly render: (current: string | null) => string;
}

/** Every generated file: one entry here for each schema, docs page or table. */
export const generatedDocuments: readonly GeneratedDocument[] = [];
