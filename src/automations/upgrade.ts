const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toFilter = (filter: unknown): unknown =>
  isObject(filter) && Object.hasOwn(filter, 'equals')
    ? { property: filter['property'], is: 'equals', value: filter['equals'] }
    : filter;

/** What was kept before there was a format: filters said `equals`, and nothing else. */
export const upgrade = (kept: unknown): unknown => {
  if (!isObject(kept) || kept['format'] !== undefined) return kept;
  const { trigger } = kept;
  if (!isObject(trigger) || !Array.isArray(trigger['filters'])) return kept;
  return { ...kept, trigger: { ...trigger, filters: trigger['filters'].map(toFilter) } };
};
