import type { Draft, Template } from '../../template_queries.ts';

/** What somebody types: every part as text, none of them missing. */
export type Typed = {
  name: string;
  subject: string;
  preheader: string;
  format: 'html' | 'mjml';
  body: string;
  text: string;
};

const FIRST_BODY = `<!doctype html>
<html>
  <body style="font-family: sans-serif; color: #1f2933; max-width: 560px; margin: 0 auto; padding: 24px">
    <h1 style="font-size: 22px">Hello {{ profile.first_name | default: "there" }}</h1>
    <p>Good to have you here.</p>
    <p style="font-size: 12px; color: #66717d">
      <a href="{{ unsubscribe_url }}">Unsubscribe</a>
    </p>
  </body>
</html>
`;

export const NEW_TEMPLATE: Typed = {
  name: '',
  subject: 'Welcome',
  preheader: '',
  format: 'html',
  body: FIRST_BODY,
  text: '',
};

type Kept = Pick<Template, 'name' | 'subject' | 'preheader' | 'html' | 'mjml' | 'text'>;

export const toTyped = ({ name, subject, preheader, html, mjml, text }: Kept): Typed => ({
  name,
  subject,
  preheader: preheader ?? '',
  format: mjml === null ? 'html' : 'mjml',
  body: mjml ?? html,
  text: text ?? '',
});

export const toDraft = (typed: Typed): Draft => ({
  name: typed.name.trim() || 'Untitled',
  subject: typed.subject,
  preheader: typed.preheader === '' ? null : typed.preheader,
  text: typed.text === '' ? null : typed.text,
  ...(typed.format === 'mjml' ? { mjml: typed.body } : { html: typed.body }),
});

export type Part = 'name' | 'subject' | 'preheader' | 'body' | 'text' | 'sample' | 'other';
export type Fault = { part: Part; message: string; line: number | null };

const PARTS: Record<string, Part> = {
  name: 'name',
  subject: 'subject',
  preheader: 'preheader',
  html: 'body',
  mjml: 'body',
  text: 'text',
  sample: 'sample',
};

/** What is wrong with a draft, with the part and the line where it is. */
export const toFaults = (issues: readonly { path: string; message: string }[]): Fault[] =>
  issues.map(({ path, message }) => {
    const name = path.split('/').findLast((one) => Object.hasOwn(PARTS, one));
    const line = /\bline (\d+)/i.exec(message)?.[1];
    return {
      part: (name === undefined ? undefined : PARTS[name]) ?? 'other',
      message,
      line: line === undefined ? null : Number(line),
    };
  });
