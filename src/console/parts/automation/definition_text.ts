import type { Definition, Settings, Step, Trigger } from './exits.ts';
import { KINDS } from './kinds.ts';

export const DEFAULT_SETTINGS: Settings = {
  re_entry: 'once',
  goal: null,
  exit_on_unsubscribe: true,
  late_events: 'PT24H',
  quiet_hours: null,
  frequency_cap: null,
  category: 'marketing',
  on_unknown: 'hold',
  expires_after: 'PT72H',
  timezone: 'UTC',
};

/** What a new automation begins with: nothing but the question when it starts. */
export const NEW_DEFINITION: Definition = {
  format: 3,
  trigger: { kind: 'event', event: '', where: [] },
  settings: DEFAULT_SETTINGS,
  entry: '',
  steps: {},
};

type Given = Record<string, unknown>;
const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objects = (value: unknown): Given[] | null =>
  Array.isArray(value) && value.every(isObject) ? value : null;

const withWhere = (given: Given): Given => ({ ...given, where: objects(given['where']) ?? [] });

/** How often an event of a condition is counted, where its author did not say. */
const ONCE = { is: 'at_least', value: 1 };

const readCondition = (given: Given): Given => {
  const { kind, of } = given;
  if (Array.isArray(of)) return { ...given, of: (objects(of) ?? []).map(readCondition) };
  if (isObject(of)) return { ...given, of: readCondition(of) };
  if (kind === 'event') return { count: ONCE, ...withWhere(given) };
  return ['event_time', 'event_since', 'trigger'].includes(String(kind)) ? withWhere(given) : given;
};

const readBranches = (given: Given): Given[] | null => {
  const branches = objects(given['branches'])?.map((branch) => {
    const { when } = branch;
    return isObject(when) ? { next: null, ...branch, when: readCondition(when) } : null;
  });
  return branches?.every((branch) => branch !== null) === true ? branches : null;
};

/** A step with what may be left out; null when it cannot be shown. */
const readStep = (given: unknown): Step | null => {
  if (!isObject(given) || !KINDS.includes(given['kind'] as Step['kind'])) return null;
  const step = { next: null, ...given } as Given;
  switch (given['kind'] as Step['kind']) {
    case 'exit':
      return given as Step;
    case 'wait_for_event':
      return { event: '', timeout: 'P3D', on_timeout: null, ...withWhere(step) } as Step;
    case 'branch': {
      const branches = readBranches(given);
      return branches && ({ otherwise: null, ...given, branches } as unknown as Step);
    }
    case 'split': {
      const ways = objects(given['ways']);
      const whole = ways?.map((way) => ({ next: null, is_holdout: false, weight: 1, ...way }));
      return whole ? ({ ...given, ways: whole } as unknown as Step) : null;
    }
    case 'delay_until':
      return isObject(given['until']) ? ({ otherwise: null, ...step } as unknown as Step) : null;
    case 'update_profile':
      return { traits: {}, traits_from_event: {}, ...step } as unknown as Step;
    case 'send_email':
      return {
        provider_id: '',
        template_id: '',
        template_version: 1,
        ...step,
      } as unknown as Step;
    case 'delay':
      return { duration: 'P1D', ...step } as unknown as Step;
    case 'webhook':
      return { endpoint_id: '', ...step } as unknown as Step;
  }
};

const readTrigger = (trigger: Record<string, unknown>): Trigger => {
  if (trigger['kind'] === 'event') return withWhere(trigger) as Trigger;
  if (trigger['kind'] === 'schedule')
    return { zone: 'automation', start: '', ...trigger } as Trigger;
  return trigger as Trigger;
};

const WHOLE = 'A definition is an object with a trigger, an entry and steps.';

/** What somebody typed as a definition, with what may be left out; or why it cannot be shown. */
export const readDefinition = (text: string): Definition | string => {
  try {
    const given: unknown = JSON.parse(text);
    if (!isObject(given) || !isObject(given['trigger']) || !isObject(given['steps'])) return WHOLE;
    const steps: Record<string, Step> = {};
    for (const [id, one] of Object.entries(given['steps'])) {
      const step = readStep(one);
      if (step === null) return `The step “${id}” is of no kind that there is, or lacks its ways.`;
      steps[id] = step;
    }
    const { trigger, settings, entry } = given;
    return {
      ...given,
      format: 3,
      trigger: readTrigger(trigger),
      settings: { ...DEFAULT_SETTINGS, ...(isObject(settings) ? settings : {}) } as Settings,
      entry: typeof entry === 'string' ? entry : '',
      steps,
    };
  } catch (error) {
    return error instanceof Error ? error.message : 'This is no JSON.';
  }
};
