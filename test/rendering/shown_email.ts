// An email that prints what a browser asserted, as it is sent.
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { render } from '../../src/rendering/render.ts';
import { toSample } from '../../src/rendering/variables.ts';

export type Values = Record<string, unknown>;
export const UNSUBSCRIBE = 'https://mail.shop.example/u/token';
export const rest = { run: {}, project: { name: 'Shop' }, unsubscribe_url: UNSUBSCRIBE };
export const sourceOf = (html: string, given: object = {}) => ({
  subject: 'Hello',
  html,
  text: null,
  preheader: null,
  ...given,
});
export const happened = (properties: object) =>
  ({ name: 'e', properties, occurred_at: new Date(0), source: 'browser' }) as const;

/** What an email says whose event a browser sent. */
export const renderFor = (
  source: ReturnType<typeof sourceOf>,
  values: Values,
  traits: Values = {},
  browserNames: string[] = [],
) => {
  const email = 'ann@example.com';
  const known = toSample({ traits, email, browserNames }, happened(values), email);
  const variables = { ...known.sample, ...rest };
  const guard = known.asserted && makeGuard({ source, variables, asserted: known.asserted });
  return render(source, variables, { guard });
};

export const A = '{{ event.a }}';
export const B = '{{ event.b }}';
export const C = '{{ event.c }}';
export const link = (url: string) => `<p><a href="${url}">go</a></p>`;
/** What an email shows that prints values of a browser beside each other, and the recipient's own address. */
export const shownTo = (html: string, values: Values, email = 'ann@example.com') => {
  const known = toSample({ traits: {}, email, browserNames: ['email'] }, happened(values), email);
  const variables = { ...known.sample, ...rest };
  const source = sourceOf(html);
  const guard = known.asserted && makeGuard({ source, variables, asserted: known.asserted });
  const outcome = render(source, variables, { guard });
  return outcome.kind === 'rendered' ? outcome.message.html : outcome.reason;
};
