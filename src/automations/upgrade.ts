type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const IS = new Map<unknown, string>([
  ['greater_than', 'greater'],
  ['less_than', 'less'],
]);

/** A test of formats 1 and 2, which had its value beside the name of the property. */
const toTest = ({ is, value, equals }: Json): Json => {
  if (equals !== undefined) return { is: 'equals', value: equals };
  if (Array.isArray(value)) return { is, values: value };
  return { is: IS.get(is) ?? is, ...(value === undefined ? {} : { value }) };
};

const toWhere = (filters: unknown): Json[] =>
  listOf(filters).map(({ property, ...test }) => ({ property, test: toTest(test) }));

const withWhere = ({ filters, ...rest }: Json): Json => ({ ...rest, where: toWhere(filters) });

/** A filter on traits, with the address and tags beside them. */
const toTrait = ({ property, ...test }: Json): Json =>
  property === 'tags' && test['is'] === 'contains'
    ? { kind: 'tag', tag: test['value'] }
    : { kind: 'trait', trait: property, test: toTest(test) };

const toConditions = ({ on, ...given }: Json): unknown[] => {
  switch (on) {
    case 'profile':
      return listOf(given['filters']).map(toTrait);
    case 'person':
      return [given['where']];
    case 'trigger':
      return [{ kind: 'trigger', ...withWhere(given) }];
    case 'event':
      return [{ kind: 'event_since', ...withWhere(given) }];
    default:
      return [{ kind: 'email', ...given }];
  }
};

/** What holds for all people: a way of format 2 could have an empty list of filters. */
const ALWAYS = {
  kind: 'any',
  of: [{ kind: 'subscribed' }, { kind: 'not', of: { kind: 'subscribed' } }],
};

const toCondition = (when: unknown): unknown => {
  const [first, ...others] = listOf(when).flatMap(toConditions);
  if (first === undefined) return ALWAYS;
  return others.length === 0 ? first : { kind: 'all', of: [first, ...others] };
};

const toStep = (step: unknown): unknown => {
  if (!isObject(step)) return step;
  if (step['kind'] === 'wait_for_event') return withWhere(step);
  if (step['kind'] !== 'branch') return step;
  const branches = listOf(step['branches']).map((way) => ({
    ...way,
    when: toCondition(way['when']),
  }));
  return { ...step, branches };
};

const toSettings = (settings: unknown): unknown => {
  if (!isObject(settings)) return settings;
  const { goal } = settings;
  return isObject(goal) && goal['event'] !== undefined
    ? { ...settings, goal: withWhere(goal) }
    : settings;
};

/** Returns a definition of formats 1 and 2 in format 3, whose filters and conditions are those of segments. */
export const upgrade = (kept: unknown): unknown => {
  if (!isObject(kept) || kept['format'] === 3) return kept;
  const { trigger, settings, steps } = kept;
  return {
    ...kept,
    format: 3,
    trigger: isObject(trigger) && trigger['kind'] === 'event' ? withWhere(trigger) : trigger,
    ...(settings === undefined ? {} : { settings: toSettings(settings) }),
    steps: isObject(steps)
      ? Object.fromEntries(Object.entries(steps).map(([id, step]) => [id, toStep(step)]))
      : steps,
  };
};
