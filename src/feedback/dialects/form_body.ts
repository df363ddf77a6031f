import { parseJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;
export const JSON_OR_FORM =
  /^(?:application\/(?:[\w.+-]{1,60}\+)?json|application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** More fields than any provider sends; the rest is not looked at. */
const FIELDS_MAX = 500;

/** Fields by name, the first of each: a form may name one twice, an object of ours may not. */
const toFields = (pairs: Iterable<[string, unknown]>): Record<string, unknown> => {
  const fields = Object.create(null) as Record<string, unknown>;
  let count = 0;
  for (const [name, value] of pairs) {
    count += 1;
    if (count > FIELDS_MAX) break;
    if (typeof value === 'string') fields[name] ??= value;
  }
  return fields;
};

const readMultipart = async (
  raw: Buffer,
  contentType: string,
): Promise<Record<string, unknown>> => {
  try {
    const headers = { 'content-type': contentType };
    return toFields(await new Response(new Uint8Array(raw), { headers }).formData());
  } catch (cause) {
    throw new Refusal('invalid_request', {
      cause,
      issues: [{ path: '', message: 'the multipart body cannot be read: check its boundary' }],
    });
  }
};

/** A body in any of the forms in which a provider may send its fields. */
export const readFields = async (raw: Buffer, contentType: string): Promise<unknown> => {
  if (FORM.test(contentType)) return toFields(new URLSearchParams(raw.toString('utf8')));
  return MULTIPART.test(contentType) ? readMultipart(raw, contentType) : parseJson(raw);
};
