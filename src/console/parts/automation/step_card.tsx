import { Badge, Group, Stack, Text, ThemeIcon, UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconBolt } from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { errorAt, SETTINGS_PANEL, TRIGGER_PANEL, useEditor } from './editor_context.ts';
import { kinds } from './kinds.ts';
import { moveEarlier, moveLater } from './model.ts';
import { stepInWords, triggerInWords } from './words.ts';
import './automation.css';

type CardProps = {
  label: string;
  says: string;
  color: string;
  icon: ReactNode;
  badges?: ReactNode;
  error: string | undefined;
  isSelected: boolean;
  onOpen: () => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  id: string;
};

const Card = (props: CardProps) => {
  const { label, says, color, icon, badges, error, isSelected, onOpen, onKeyDown, id } = props;
  return (
    <UnstyledButton
      className="step-card nopan nodrag"
      data-step={id}
      data-selected={isSelected || undefined}
      data-wrong={error !== undefined || undefined}
      aria-current={isSelected ? 'step' : undefined}
      title={error}
      onClick={onOpen}
      onKeyDown={onKeyDown}
    >
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <ThemeIcon variant="light" color={color} size={34}>
          {icon}
        </ThemeIcon>
        <Stack gap={1} miw={0} flex={1}>
          <Text size="xs" c="dimmed" truncate>
            {label}
          </Text>
          <Text size="sm" fw={600} lineClamp={2} className="breaks">
            {says}
          </Text>
        </Stack>
        {error !== undefined && (
          <IconAlertTriangle size={18} className="step-wrong" aria-label={`Wrong: ${error}`} />
        )}
      </Group>
      {badges}
    </UnstyledButton>
  );
};

const count = new Intl.NumberFormat();

const Counts = ({ id }: { id: string }) => {
  const { inside, simulated } = useEditor();
  const here = inside.get(id) ?? null;
  const reached = simulated?.reached[id] ?? 0;
  const sent = simulated?.sent[id];
  if (here === null && simulated === null) return null;
  return (
    <Group gap={4} className="step-counts">
      {simulated !== null && (
        <Badge size="sm" variant="filled" color="dark">
          {count.format(reached)} would come
          {sent === undefined ? '' : `, ${count.format(sent)} ${sent === 1 ? 'mail' : 'mails'}`}
        </Badge>
      )}
      {here !== null && (
        <Badge size="sm" variant="light" color="cyan">
          {here.isCapped && 'over '}
          {count.format(here.people)} here now
        </Badge>
      )}
    </Group>
  );
};

/** A step as a button that opens it. Delete takes it out, Alt with an arrow moves it. */
export const StepCard = ({ id }: { id: string }) => {
  const { definition, change, remove, names, issues, selected, select } = useEditor();
  const step = definition.steps[id];
  if (!step) return null;
  const { word, color, Icon } = kinds[step.kind];
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Delete' || event.key === 'Backspace') remove(id);
    else if (event.altKey && event.key === 'ArrowUp') change(moveEarlier(definition, id));
    else if (event.altKey && event.key === 'ArrowDown') change(moveLater(definition, id));
    else return;
    event.preventDefault();
  };
  return (
    <Card
      id={id}
      label={`${word} · ${id}`}
      says={stepInWords(step, names)}
      color={color}
      icon={<Icon size={20} stroke={1.6} />}
      badges={<Counts id={id} />}
      error={errorAt(issues, `/steps/${id}`)}
      isSelected={selected === id}
      onOpen={() => select(id)}
      onKeyDown={press}
    />
  );
};

/** What starts the automation, as a button that opens it. */
export const TriggerCard = () => {
  const { definition, names, issues, selected, select, simulated } = useEditor();
  const { trigger } = definition;
  return (
    <Card
      id={TRIGGER_PANEL}
      label="Trigger"
      says={triggerInWords(trigger, names)}
      color="cyan"
      icon={<IconBolt size={20} stroke={1.6} />}
      badges={
        simulated !== null && (
          <Group gap={4} className="step-counts">
            <Badge size="sm" variant="filled" color="dark">
              {count.format(simulated.entered)} would enter
            </Badge>
          </Group>
        )
      }
      error={errorAt(issues, '/trigger') ?? errorAt(issues, SETTINGS_PANEL)}
      isSelected={selected === TRIGGER_PANEL}
      onOpen={() => select(TRIGGER_PANEL)}
    />
  );
};
