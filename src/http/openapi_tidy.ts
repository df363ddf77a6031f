import { z } from 'zod';
import type { oas31, ZodOpenApiOverride } from 'zod-openapi';

/**
 * Leaves out what a reader of a schema should not have to see: patterns that a format says already,
 * bounds that every integer has. Puts back what gets lost where a schema transforms: examples, defaults, and
 * that a member must be there.
 * Answers are left open, because clients have to ignore what they do not know.
 */
export const tidySchema: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (isAnyName(jsonSchema.propertyNames)) delete jsonSchema.propertyNames;
  if (io === 'output' && jsonSchema.additionalProperties === false)
    delete jsonSchema.additionalProperties;
  const { def } = zodSchema._zod;
  if (io === 'input' && def.type === 'object') {
    const { shape } = def as z.core.$ZodObjectDef;
    const needed = Object.keys(shape).filter((name) => isNeeded(shape[name] as z.core.$ZodType));
    if (needed.length > 0) jsonSchema.required = needed;
  }
  const told = z.globalRegistry.get(zodSchema as unknown as z.ZodType) ?? {};
  if (told.examples) jsonSchema.examples = told.examples as unknown[];
  if (told['default'] !== undefined) jsonSchema.default = told['default'];
};

type Definition = { type: string; in?: z.core.$ZodType; out?: z.core.$ZodType };

/** Whether a member must be there. One that is prepared first must, where what it is prepared for must. */
const isNeeded = ({ _zod: { def, optin } }: z.core.$ZodType): boolean => {
  const { in: first, out } = def as Definition;
  return first?._zod.def.type === 'transform' && out ? isNeeded(out) : optin === undefined;
};

const isAnyName = (names: unknown): boolean => JSON.stringify(names) === '{"type":"string"}';

type Branch = oas31.SchemaObject;
const isNull = ({ type }: Branch): boolean => type === 'null';
const isPlain = (branch: Branch): boolean =>
  typeof branch.type === 'string' && branch.enum === undefined && branch.const === undefined;

/** Says "a string or null" as `type: [string, null]`, everywhere in a value: one schema instead of three. */
export const joinNulls = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => joinNulls(item) as unknown) as T;
  const joined = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, joinNulls(member) as unknown]),
  ) as Branch;
  const [branch, none, ...more] = (joined.anyOf ?? []) as Branch[];
  if (!branch || !none || more.length > 0 || !isNull(none) || !isPlain(branch)) return joined as T;
  const { anyOf: _, ...rest } = joined;
  return { ...branch, type: [branch.type, 'null'], ...rest } as T;
};
