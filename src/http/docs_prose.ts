const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** A code span of CommonMark: one that has backticks in it stands between more of them. */
export const codeOf = (text: string): string => {
  const [longest = ''] = (text.match(/`+/g) ?? []).toSorted((a, b) => b.length - a.length);
  const around = `${longest}\``;
  const apart = /^[ `]|[ `]$/.test(text) ? ' ' : '';
  return around + apart + text + apart + around;
};

const CODE = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/gs;

const toCode = (_span: string, _around: string, text: string): string =>
  `<code>${/^ .* $/s.test(text) && text.trim() !== '' ? text.slice(1, -1) : text}</code>`;

/** HTML of the CommonMark that descriptions are written in: paragraphs and `code`. Nothing in it is markup. */
export const toHtml = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((paragraph) => escape(paragraph).replaceAll(CODE, toCode))
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join('\n');

/** Words as code, with commas between them. */
export const listed = (words: readonly unknown[]): string =>
  words.map((word) => codeOf(String(word))).join(', ');
