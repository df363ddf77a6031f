import { Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { AddStep } from './add_step.tsx';
import { useEditor } from './editor_context.ts';
import { exitsOf } from './exits.ts';
import type { Definition, Place } from './exits.ts';
import { listReached, nextAt } from './model.ts';
import { StepCard, TriggerCard } from './step_card.tsx';

type Way = {
  place: Place;
  where: string;
  label: string;
  /** The step that follows; null is the end. */
  next: string | null;
  /** Whether that step is told of elsewhere. */
  isAgain: boolean;
  ways: Way[];
};

const follow = (
  definition: Definition,
  told: Set<string>,
  { place, where, label }: Pick<Way, 'place' | 'where' | 'label'>,
): Way => {
  const given = nextAt(definition, place);
  const step = given === null ? undefined : definition.steps[given];
  const next = step ? given : null;
  const isAgain = next !== null && told.has(next);
  if (!step || next === null || isAgain) return { place, where, label, next, isAgain, ways: [] };
  told.add(next);
  const ways = exitsOf(step).map((exit, at) =>
    follow(definition, told, {
      place: { after: next, exit: at },
      where: exit.label === '' ? `after ${next}` : `after ${next}, ${exit.label}`,
      label: exit.label,
    }),
  );
  return { place, where, label, next, isAgain, ways };
};

/** What follows at a place: the next step and what follows that; ways of their own are set in. */
const Following = ({ way: { place, where, label, next, isAgain, ways } }: { way: Way }) => (
  <>
    <Group gap="xs" my={8} component="li">
      <AddStep place={place} where={where} />
      <Text size="xs" c="dimmed">
        {label !== '' && `${label}: `}
        {next === null && 'End'}
        {isAgain && `Goes on at ${next}`}
      </Text>
    </Group>
    {next !== null && !isAgain && (
      <li className="outline-item">
        <StepCard id={next} />
      </li>
    )}
    {ways.length === 1 && ways[0] && <Following way={ways[0]} />}
    {ways.length > 1 &&
      ways.map((one) => (
        <li key={one.where}>
          <ol className="outline">
            <Following way={one} />
          </ol>
        </li>
      ))}
  </>
);

const Lost = () => {
  const { definition } = useEditor();
  const reached = listReached(definition);
  const lost = Object.keys(definition.steps).filter((id) => !reached.includes(id));
  if (lost.length === 0) return null;
  return (
    <>
      <Text component="li" size="sm" c="dimmed" mt="md" mb="xs">
        No way leads here:
      </Text>
      {lost.map((id) => (
        <li key={id} className="outline-item">
          <StepCard id={id} />
        </li>
      ))}
    </>
  );
};

/** The same as the graph, as a list: for narrow screens, and for whoever reads rather than looks. */
export const Outline = () => {
  const { definition } = useEditor();
  const way = useMemo(
    () =>
      follow(definition, new Set(), {
        place: { after: null },
        where: 'after the trigger',
        label: '',
      }),
    [definition],
  );
  return (
    <ol className="outline" aria-label="Steps in order">
      <li className="outline-item">
        <TriggerCard />
      </li>
      <Following way={way} />
      <Lost />
    </ol>
  );
};
