// How the limits of templates are tried.
import type { Answer } from '../support/api.ts';
import { bytes, chars, padded } from './of_size.ts';

type Post = (path: string, body: unknown) => Promise<Answer>;
type Bound = (
  asks: ((count: number) => Promise<Answer>)[],
  refusal?: 'body_too_large',
) => (value: number) => Promise<void>;

const HTML = { html: 'x' };
const mjmlOf = (count: number) => {
  const [start, end] = ['<mjml>', '<mj-body></mj-body></mjml>'];
  return { mjml: `${start}${' '.repeat(count - start.length - end.length)}${end}` };
};
const CHUNK = 64;
/** Makes so many characters, in a few thousand steps. */
const repeated = (count: number) =>
  `{% for i in (1..${Math.floor(count / CHUNK)}) %}${chars(CHUNK)}{% endfor %}${chars(count % CHUNK)}`;

/** Objects inside each other. */
const nested = (levels: number): object =>
  Array.from({ length: levels - 1 }).reduce<object>((inner) => ({ a: inner }), { a: 'x' });

/** Each limit of templates, tried with requests that keep or show one. */
export const limitsOfTemplates = ({ post, bound }: { post: Post; bound: Bound }) => {
  const keep = (given: object) =>
    post('/templates', { name: 'a', subject: 'a', ...HTML, ...given });
  return {
    'Body or text of a template': bound([
      (count) => keep({ html: chars(count), text: 'x' }),
      (count) => keep({ text: chars(count) }),
      (count) => keep({ html: undefined, ...mjmlOf(count) }),
    ]),
    'Subject or preheader of a template': bound([
      (count) => keep({ subject: `a${' '.repeat(count - 1)}` }),
      (count) => keep({ preheader: `a${' '.repeat(count - 1)}` }),
    ]),
    'Name of a template': bound([(count) => keep({ name: chars(count) })]),
    'Sample of a template': bound([
      (count) =>
        keep({
          sample: {
            profile: { a: bytes(count - '{"profile":{"a":""},"event":{}}'.length) },
            event: {},
          },
        }),
    ]),
    'Nesting of what a template mentions': bound([
      (count) => keep({ sample: { profile: nested(count), event: {} } }),
      (count) => keep({ html: `{{ profile${'.a'.repeat(count)} }}` }),
      (count) =>
        post('/template-previews', {
          template: { name: 'a', subject: 'a', ...HTML },
          event: { event: 'a', properties: nested(count) },
        }),
    ]),
    'Body of a request with a template': bound(
      [(count) => post('/templates', padded({ name: 'a', subject: 'a', ...HTML }, count))],
      'body_too_large',
    ),
    'A rendered part': bound([
      (count) => keep({ html: repeated(count), text: 'x' }),
      (count) => keep({ text: repeated(count) }),
    ]),
    'A rendered subject': bound([(count) => keep({ subject: repeated(count) })]),
    'A rendered preheader': bound([(count) => keep({ preheader: repeated(count) })]),
  };
};
