import * as vscode from 'vscode';
import { type Answer, back, type Choice, type InputOptions, type PickOptions, type Prompts } from '../ports.ts';

interface Row<T> extends vscode.QuickPickItem {
  readonly choice?: Choice<T>;
}

/** Questions by the editor's own quick picks, input boxes, notifications and dialogs. */
export class EditorPrompts implements Prompts {
  pick<T>(choices: readonly Choice<T>[], options: PickOptions): Promise<Answer<T>> {
    const quickPick = vscode.window.createQuickPick<Row<T>>();
    quickPick.items = rows(choices);
    quickPick.matchOnDescription = true;
    quickPick.matchOnDetail = true;
    setUp(quickPick, options);
    if (options.placeholder !== undefined) quickPick.placeholder = options.placeholder;
    return answerOf(quickPick, () => quickPick.selectedItems[0]?.choice?.value);
  }

  async pickMany<T>(
    choices: readonly (Choice<T> & { readonly picked: boolean })[],
    options: PickOptions,
  ): Promise<readonly T[] | undefined> {
    const items = choices.map((choice) => ({ ...row(choice), picked: choice.picked, value: choice.value }));
    const picked = await vscode.window.showQuickPick(items, {
      canPickMany: true,
      title: options.title,
      ignoreFocusOut: true,
      ...(options.placeholder === undefined ? {} : { placeHolder: options.placeholder }),
    });
    return picked?.map((item) => item.value);
  }

  input(options: InputOptions): Promise<Answer<string>> {
    const box = vscode.window.createInputBox();
    box.prompt = options.prompt;
    box.value = options.value ?? '';
    box.password = options.isSecret ?? false;
    if (options.placeholder !== undefined) box.placeholder = options.placeholder;
    setUp(box, options);
    const check = () => {
      box.validationMessage = options.validate?.(box.value) ?? '';
    };
    box.onDidChangeValue(check);
    return answerOf(box, () => {
      check();
      return box.validationMessage ? rejected : box.value;
    });
  }

  async confirm(question: string, detail: string, action: string): Promise<boolean> {
    return (await vscode.window.showWarningMessage(question, { modal: true, detail }, action)) === action;
  }

  async inform(message: string, ...actions: string[]): Promise<string | undefined> {
    return vscode.window.showInformationMessage(message, ...actions);
  }

  async warn(message: string, ...actions: string[]): Promise<string | undefined> {
    return vscode.window.showWarningMessage(message, ...actions);
  }

  async fail(message: string, ...actions: string[]): Promise<string | undefined> {
    return vscode.window.showErrorMessage(message, ...actions);
  }

  async chooseFolder(title: string): Promise<string | undefined> {
    const found = await vscode.window.showOpenDialog({
      title,
      openLabel: title,
      canSelectFiles: false,
      canSelectFolders: true,
      canSelectMany: false,
    });
    return found?.[0]?.fsPath;
  }

  async chooseTarget(title: string, suggestedName: string, extension: string): Promise<string | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const target = await vscode.window.showSaveDialog({
      title,
      filters: { [extension.toUpperCase()]: [extension] },
      ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, suggestedName) }),
    });
    return target?.fsPath;
  }

  async withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, work);
  }
}

const rejected = Symbol('rejected');

function rows<T>(choices: readonly Choice<T>[]): Row<T>[] {
  return choices.flatMap((choice) =>
    choice.heading === undefined
      ? [row(choice)]
      : [{ label: choice.heading, kind: vscode.QuickPickItemKind.Separator }, row(choice)],
  );
}

function row<T>(choice: Choice<T>): Row<T> {
  return {
    label: choice.label,
    choice,
    ...(choice.description === undefined ? {} : { description: choice.description }),
    ...(choice.detail === undefined ? {} : { detail: choice.detail }),
  };
}

function setUp(input: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox, options: PickOptions): void {
  input.title = options.title;
  input.ignoreFocusOut = true;
  if (options.place === undefined) return;
  input.step = options.place.step;
  input.totalSteps = options.place.of;
  if (options.place.step > 1) input.buttons = [vscode.QuickInputButtons.Back];
}

/** Shows the input and waits for the answer, the way back, or the person going away. */
function answerOf<T>(
  input: Pick<vscode.InputBox, 'onDidAccept' | 'onDidHide' | 'onDidTriggerButton' | 'show' | 'dispose'>,
  read: () => T | typeof rejected | undefined,
): Promise<Answer<T>> {
  return new Promise((resolve) => {
    const finish = (answer: Answer<T>) => {
      resolve(answer);
      input.dispose();
    };
    input.onDidAccept(() => {
      const value = read();
      if (value !== rejected) finish(value);
    });
    input.onDidTriggerButton(() => finish(back));
    input.onDidHide(() => finish(undefined));
    input.show();
  });
}
