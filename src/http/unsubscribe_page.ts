import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Liquid } from 'liquidjs';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const STYLE = read('unsubscribe.css');
const engine = new Liquid({ outputEscape: 'escape', strictVariables: true, lenientIf: true });
const template = engine.parse(read('unsubscribe.liquid'));

/** Nothing but the page's own style and its own form: no script runs, nothing is loaded. */
export const UNSUBSCRIBE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** What the page's buttons send; the first is what mail software sends by itself (RFC 8058). */
const LEAVE = { name: 'List-Unsubscribe', value: 'One-Click' };
export const COME_BACK = { name: 'action', value: 'resubscribe' };

const NOTE = 'Should mail still come, take the link of the newest one.';

/** Strokes in a box of 24: an envelope, a tick in a circle for what is done, a link that is broken. */
const ENVELOPE =
  'M5 5h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2Zm-1.5 2 8.5 6 8.5-6';
const TICK = 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18Zm-4 9.2 2.8 2.8 5.2-5.6';

const BROKEN_LINK = 'M10 7H7a5 5 0 0 0 0 10h3M14 7h3a5 5 0 0 1 0 10h-3M12 4v2m0 12v2';

const texts = {
  /** Nothing has changed yet. */
  ask: (from: string) => ({
    title: `Unsubscribe${from}?`,
    text: 'You will get no more news and offers. What you need, such as receipts and passwords, still comes.',
    button: 'Unsubscribe',
    field: LEAVE,
    quiet: false,
    note: 'Nothing has changed so far.',
    drawing: ENVELOPE,
  }),
  left: (from: string) => ({
    title: 'You are unsubscribed',
    text: `You will get no more news and offers${from}. You can close this page.`,
    button: 'That was a mistake: subscribe me again',
    field: COME_BACK,
    quiet: true,
    note: NOTE,
    drawing: TICK,
  }),
  back: (from: string) => ({
    title: 'You are subscribed again',
    text: `News and offers${from} will reach you as before.`,
    button: 'Unsubscribe',
    field: LEAVE,
    quiet: true,
    note: NOTE,
    drawing: ENVELOPE,
  }),
  /** Of a link that we did not make, or not so: nothing is known of anybody. */
  incomplete: () => ({
    title: 'This link is not complete',
    text:
      'Nothing has changed: it unsubscribes nobody. Open the newest mail that you got, and use the unsubscribe link ' +
      'in it or the Unsubscribe button of your mail program.',
    button: null,
    field: null,
    quiet: true,
    note:
      'Links get cut when a mail program breaks a long line, or when they are copied by hand. If that one leads here ' +
      'too, answer the mail and ask its sender.',
    drawing: BROKEN_LINK,
  }),
};

export type UnsubscribePage = keyof typeof texts;

/** One of the pages, in HTML. `sender` is whose mail it is about, where that is known. */
export const renderUnsubscribePage = (page: UnsubscribePage, sender: string | null): string => {
  const from = sender === null ? '' : ` from ${sender}`;
  return engine.renderSync(template, { ...texts[page](from), style: STYLE }) as string;
};
