import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, Markup } from './escape.ts';
import { MAILS_KEPT_MAX } from './mailbox.ts';
import type { CaughtMail } from './mailbox.ts';

const readAsset = (name: string): string =>
  readFileSync(new URL(name, import.meta.url), 'utf8').trim();
const style = readAsset('page.css');
const script = readAsset('page.js');
// Whole elements: not a space may come between, for the policy names the digest of what is inside.
const STYLE = new Markup(`<style>${style}</style>`);
const SCRIPT = new Markup(`<script>${script}</script>`);
const digest = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing but our own style and script, our own answers, and the frame below. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${digest(style)}`,
  `script-src ${digest(script)}`,
  "connect-src 'self'",
  "frame-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Links open in a tab of their own; everything else that a page can do is closed to a mail. */
const SANDBOX = 'allow-popups allow-popups-to-escape-sandbox';

/** A mail may bring its own style and pictures. It loads nothing, runs nothing and sends nothing. */
export const FRAME_POLICY = [
  `sandbox ${SANDBOX}`,
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** A mail's HTML as the document of the sandboxed frame. */
export const framed = (mailHtml: string): string =>
  `<!doctype html><base target="_blank">${mailHtml}`;

/** What a client needs to send mail here; the password is not shown. */
export type Account = { port: number; username: string };

export const VIEWS = ['html', 'text', 'headers'] as const;
type View = (typeof VIEWS)[number];
const titles: Record<View, string> = { html: 'HTML', text: 'Text', headers: 'Headers' };

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
});

const toTime = (iso: string, format: Intl.DateTimeFormat): Markup =>
  html`<time datetime="${iso}">${format.format(new Date(iso))}</time>`;

const subjectOf = ({ subject }: CaughtMail): Markup =>
  html`<bdi>${subject?.trim() || '(no subject)'}</bdi>`;

const toItem = (mail: CaughtMail, isShown: boolean): Markup =>
  html`<li>
    <a href="/?message=${mail.id}" ${isShown ? html`aria-current="true"` : null}>
      <span class="subject">${subjectOf(mail)}</span>
      ${toTime(mail.received_at, TIME)}
      <span class="to">to <bdi>${mail.to.join(', ')}</bdi></span>
    </a>
  </li>`;

const LINK = /(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/;

/** A mail's text, with its web addresses as links. */
const toText = (text: string): Markup[] =>
  text
    .split(LINK)
    .map((part, i) =>
      i % 2 === 1
        ? html`<a href="${part}" target="_blank" rel="noopener noreferrer">${part}</a>`
        : html`${part}`,
    );

const toHeaders = ({ headers }: CaughtMail): Markup[] =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map(
      (value) =>
        html`<dt><bdi>${name}</bdi></dt>
          <dd><bdi>${value}</bdi></dd>`,
    ),
  );

const toBody = (mail: CaughtMail, view: View): Markup => {
  if (view === 'headers') return html`<dl class="headers">${toHeaders(mail)}</dl>`;
  if (view === 'html' && mail.html !== null) {
    return html`<iframe
      title="The mail as HTML, without scripts and without what it would load"
      sandbox="${SANDBOX}"
      src="/messages/${mail.id}/html"
    ></iframe>`;
  }
  const text = view === 'html' ? null : mail.text;
  return text === null
    ? html`<p>This mail has no ${titles[view]} part.</p>`
    : html`<pre>${toText(text)}</pre>`;
};

const toArticle = (mail: CaughtMail, view: View): Markup => {
  const tabs = VIEWS.map(
    (one) =>
      html`<li>
        <a
          href="/?message=${mail.id}&view=${one}"
          ${one === view ? html`aria-current="page"` : null}
          >${titles[one]}</a
        >
      </li>`,
  );
  return html`<a class="back" href="/">← All mails</a>
    <h2>${subjectOf(mail)}</h2>
    <dl>
      <dt>From</dt>
      <dd><bdi>${mail.from || '(empty sender)'}</bdi></dd>
      <dt>To</dt>
      <dd><bdi>${mail.to.join(', ')}</bdi></dd>
      <dt>Caught</dt>
      <dd>${toTime(mail.received_at, DATE_AND_TIME)}</dd>
    </dl>
    <ul class="views" aria-label="Views of this mail">
      ${tabs}
      <li><a href="/messages/${mail.id}/raw">Download</a></li>
    </ul>
    ${toBody(mail, view)}`;
};

const gone = html`<h2>This mail is not kept any more</h2>
  <p>The mailbox was emptied, or ${MAILS_KEPT_MAX} newer mails came. <a href="/">All mails</a></p>`;

const toEmptyState = ({ port, username }: Account): Markup =>
  html`<h2>No mail yet</h2>
    <p>
      Run the <code>curl</code> line that <code>make start</code> printed. It sends an event, the
      example automation answers with a mail, and the mail appears here by itself.
    </p>
    <p>Any other program can send here too. Nothing is ever delivered to anybody.</p>
    <dl>
      <dt>Host</dt>
      <dd>127.0.0.1</dd>
      <dt>Port</dt>
      <dd>${port}, with STARTTLS</dd>
      <dt>Username</dt>
      <dd>${username}</dd>
    </dl>`;

type Shown = { mails: readonly CaughtMail[]; account: Account; query: URLSearchParams };

const findView = (query: URLSearchParams, mail: CaughtMail): View =>
  VIEWS.find((view) => view === query.get('view')) ?? (mail.html === null ? 'text' : 'html');

/** The whole page: the list, newest first, and the chosen mail or else the newest. */
export const page = ({ mails, account, query }: Shown): string => {
  const chosen = query.get('message');
  const mail = chosen ? mails.find(({ id }) => id === chosen) : mails.at(-1);
  const layout = chosen ? 'chosen' : mail ? 'newest' : 'empty';
  const nothing = chosen ? gone : toEmptyState(account);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Mail catcher</title>
        <link rel="icon" href="data:," />
        ${STYLE}
      </head>
      <body class="${layout}">
        <header>
          <h1>Mail catcher</h1>
          <p id="count" data-live role="status">
            ${mails.length} ${mails.length === 1 ? 'mail' : 'mails'}
          </p>
          <button id="empty" type="button" hidden>Empty</button>
          <p id="lost" role="alert" hidden>
            Not connected. Is <code>make start</code> still running?
          </p>
        </header>
        <main>
          <nav id="list" data-live aria-label="Caught mails, newest first">
            <ol>
              ${mails.toReversed().map((one) => toItem(one, one === mail))}
            </ol>
          </nav>
          <article id="mail" ${chosen ? null : html`data-live`}>
            ${mail ? toArticle(mail, findView(query, mail)) : nothing}
          </article>
        </main>
        ${SCRIPT}
      </body>
    </html>`.text;
};
