// The limits of traits, at the bound and one past it.
import { newId } from '../../src/base/ids.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import type { Answer } from '../support/api.ts';
import { addressOf, bytes, chars, keys, nested } from './of_size.ts';

type Send = (count: number) => Promise<Answer>;
type Given = {
  post: (path: string, body: unknown) => Promise<Answer>;
  bound: (sends: Send[], name?: RefusalName) => (value: number) => Promise<void>;
};

/** How each is tried, by its name in the documents. Everybody who is told something is new. */
export const limitsOfTraits = ({
  post,
  bound,
}: Given): Record<string, (value: number) => Promise<void>> => {
  const told = (traits: unknown, external_id = newId()) =>
    post('/v1/identify', { external_id, traits });
  /** In two requests, each of which is small enough. */
  const inTwo = async (first: unknown, second: unknown) => {
    const person = newId();
    await told(first, person);
    return told(second, person);
  };
  return {
    'Traits in a request': bound([(count) => told(keys(count))]),
    'Traits of a person that servers told; and as many, apart, that pages told': bound(
      [(count) => inTwo({ first: 1 }, keys(count - 1))],
      'too_many_traits',
    ),
    'Those traits as JSON, each of the two kinds': bound(
      [(count) => inTwo({ a: 1 }, { b: bytes(count - '"a":1,"b":"",'.length) })],
      'too_many_traits',
    ),
    'A name in traits': bound([
      (count) => told({ [chars(count)]: 1 }),
      (count) => told({ a: { [chars(count)]: 1 } }),
    ]),
    'Traits as JSON': bound([(count) => told({ a: bytes(count - '{"a":""}'.length) })]),
    'Nesting of traits': bound([(count) => told(nested(count))]),
    'E-mail address': bound([(count) => told({ email: addressOf(count) })]),
    'What stands before the @': bound([(count) => told({ email: `${chars(count)}@example.com` })]),
  };
};
