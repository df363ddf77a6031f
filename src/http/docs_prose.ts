const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** HTML of the CommonMark that descriptions are written in: paragraphs and `code`. Nothing in it is markup. */
export const toHtml = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((paragraph) => escape(paragraph).replaceAll(/`([^`]+)`/g, '<code>$1</code>'))
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join('\n');
