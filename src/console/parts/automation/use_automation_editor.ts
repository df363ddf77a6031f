import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { checked, providerChoices } from '../../automation_queries.ts';
import type { Automation, Issue } from '../../automation_queries.ts';
import type { Editor, Here } from './editor_context.ts';
import { TRIGGER_PANEL, WIDE } from './editor_context.ts';
import type { Definition } from './exits.ts';
import { useHistory } from './history.ts';
import type { History } from './history.ts';
import { insertAt, removeStep, setStep } from './model.ts';
import { useNames } from './use_names.ts';

const CHECK_AFTER_MS = 350;

/** What the server says of nothing yet is said better here. */
const toIssues = (issues: readonly Issue[], { entry, steps }: Definition): Issue[] => {
  const isEmpty = entry === '' && Object.keys(steps).length === 0;
  const rest = issues.filter(({ path }) => !(isEmpty && path.startsWith('/entry')));
  return isEmpty ? [{ path: '/entry', message: 'Add a first step.' }, ...rest] : rest;
};

/** A new automation begins with what starts it, where that does not hide the rest. */
const firstPanel = (): string | null => (matchMedia(WIDE).matches ? TRIGGER_PANEL : null);

/** Whoever takes a step away by the keyboard goes on at the one before it. */
const focusBefore = (id: string): void => {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-step]')];
  cards[cards.findIndex(({ dataset }) => dataset['step'] === id) - 1]?.focus();
};

type Given = {
  projectId: string;
  kept: Automation | null;
  initial: Definition;
};

/** What is known while somebody edits an automation. */
export const useAutomationEditor = ({ projectId, kept, initial }: Given) => {
  const history: History<Definition> = useHistory(initial);
  const { present: definition, change } = history;
  const [selected, select] = useState(() => (kept === null ? firstPanel() : null));
  const [settled] = useDebouncedValue(definition, CHECK_AFTER_MS);
  const check = useQuery(checked(projectId, settled));
  const names = useNames(projectId);
  const { data: providers } = useQuery(providerChoices(projectId));
  const providerId = providers?.items[0]?.id;
  const issues = useMemo(
    () => toIssues(check.data?.issues ?? [], definition),
    [check.data, definition],
  );
  const inside = useMemo(() => {
    const counts = new Map<string, Here>();
    for (const { step_id, people, is_capped } of kept?.inside ?? []) {
      const { people: others = 0, isCapped = false } = counts.get(step_id) ?? {};
      counts.set(step_id, { people: people + others, isCapped: is_capped || isCapped });
    }
    return counts;
  }, [kept?.inside]);
  const editor: Editor = {
    projectId,
    definition,
    change,
    setStep: (id, step) => change(setStep(definition, id, step), `step/${id}`),
    add: (place, kind) => {
      const { definition: next, id } = insertAt(definition, place, kind, providerId);
      change(next);
      select(id);
    },
    remove: (id) => {
      focusBefore(id);
      change(removeStep(definition, id));
      if (selected === id) select(null);
    },
    selected,
    select,
    issues,
    activation: check.data?.activation ?? [],
    occurrences: check.data?.occurrences ?? [],
    names,
    inside,
    simulated: null,
    simulator: null,
  };
  const isChecked = settled === definition && !check.isFetching;
  return { editor, history, isChecked };
};
