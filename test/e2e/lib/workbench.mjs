// The workbench as a person uses it: palette, editors, code lenses, the run panel.
import { join } from 'node:path';

const dotted = (text) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));

export class Workbench {
  /** @param folder path of the opened workspace @param shots folder for screenshots */
  constructor(page, folder, shots) {
    this.page = page;
    this.folder = folder;
    this.shots = shots;
    this.editor = page.locator('.editor-instance .monaco-editor').first();
    this.input = page.locator('.quick-input-widget');
  }

  async close() {
    await this.page.context().close();
  }

  /** Loads the window again: settings changed on disk count from then on. */
  async reload() {
    await this.page.reload();
    await this.page.locator('.explorer-folders-view .monaco-list-row').first().waitFor({ timeout: 60_000 });
  }

  /** Runs a command by its title; the list of a fresh window may need several tries. */
  async command(title) {
    await this.#pick('F1', `>${title}`, title);
  }

  /** Opens a file of the workspace by a part of its name. */
  async openFile(name) {
    await this.#pick('Control+P', name, name);
    await this.tab(name);
  }

  /** Chooses a row of the quick pick that is open. */
  async choose(text) {
    const row = this.input.locator('.monaco-list-row', { hasText: text }).first();
    await row.waitFor();
    await row.click();
  }

  /** Answers the input box that asks for `prompt`. */
  async answer(prompt, text) {
    await this.input.locator('.quick-input-message', { hasText: prompt }).waitFor();
    await this.input.locator('.quick-input-box input').fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Clicks a code lens by its text. */
  async lens(text) {
    await this.page
      .locator('.codelens-decoration a', { hasText: dotted(text) })
      .first()
      .click();
  }

  /** Waits until the tab of this name is in front. */
  async tab(text) {
    const tab = this.page.locator('.tabs-container .tab.active', { hasText: text }).first();
    await tab.waitFor();
    return tab;
  }

  /** Chooses a button of a notification. */
  async notification(text, button) {
    const toast = this.page.locator('.notifications-toasts .notification-list-item', { hasText: text }).first();
    await toast.waitFor();
    if (button !== undefined) await toast.locator('.monaco-button', { hasText: button }).first().click();
    return toast;
  }

  /** Answers a modal dialog by its button; returns the dialog's text. */
  async dialog(button) {
    const box = this.page.locator('.monaco-dialog-box');
    await box.waitFor();
    const text = await box.textContent();
    await box.locator('.monaco-button', { hasText: button }).first().click();
    await box.waitFor({ state: 'detached' });
    return text;
  }

  /** The page inside the run panel. */
  get panel() {
    return this.page.locator('iframe.webview.ready').last().contentFrame().frameLocator('iframe#active-frame');
  }

  /** The panel's frame itself, to run scripts in: its policy admits none that the page did not bring. */
  async panelFrame() {
    const outer = await (await this.page.locator('iframe.webview.ready').last().elementHandle()).contentFrame();
    const inner = await (await outer.locator('iframe#active-frame').elementHandle()).contentFrame();
    return inner;
  }

  /** Waits for the end of the run that the panel shows, and returns its state's words. */
  async runEnd(title) {
    await this.panel.locator('h1', { hasText: title }).waitFor({ timeout: 60_000 });
    const state = this.panel.locator('.state[data-status]').filter({ hasText: /^(Done|Failed|Cancelled|Unknown)/ });
    await state.waitFor({ timeout: 60_000 });
    return state.textContent();
  }

  /** Counts of the panel by kind; null where the load has no such action. */
  async counts() {
    const rows = this.panel.locator('tr[data-count]');
    await rows.first().waitFor();
    const found = {};
    for (const row of await rows.all()) {
      const text = await row.locator('.number').textContent();
      found[await row.getAttribute('data-count')] = text === '–' ? null : Number(text.replaceAll(',', ''));
    }
    return found;
  }

  async panelTab(name) {
    await this.panel.locator(`#tab-${name}`).click();
    await this.panel.locator(`#panel-${name}`).waitFor();
  }

  /** Rows of the Problems view as texts, once one of them holds the text. */
  async problems(text) {
    await this.page.keyboard.press('Control+Shift+M');
    const rows = this.page.locator('.markers-panel .monaco-list-row');
    if (text !== undefined) await rows.filter({ hasText: text }).first().waitFor();
    return rows.allInnerTexts();
  }

  /** Puts the cursor at a one-based line and column of the active editor. */
  async goTo(line, column) {
    await this.page.keyboard.press('Control+P');
    await this.input.locator('.quick-input-box input').fill(`:${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.page.locator('.statusbar-item', { hasText: `Ln ${line}, Col ${column}` }).waitFor();
  }

  async screenshot(name) {
    await this.page.screenshot({ path: join(this.shots, `${name}.png`) });
  }

  async #pick(key, text, row) {
    let last;
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await this.page.keyboard.press(key);
      try {
        await this.input.locator('.quick-input-box input').fill(text, { timeout: 2000 });
        const found = this.input.locator('.monaco-list-row', { hasText: row }).first();
        await found.waitFor({ timeout: 2000 });
        await found.click();
        return;
      } catch (error) {
        last = error;
        await this.page.keyboard.press('Escape');
        await this.input.waitFor({ state: 'hidden', timeout: 30_000 });
      }
    }
    throw last;
  }
}
