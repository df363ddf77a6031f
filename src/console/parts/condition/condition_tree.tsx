import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Paper,
  SegmentedControl,
  Stack,
  Switch,
  Text,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { LeafFields } from './leaf_fields.tsx';
import type { Scene } from './event_fields.tsx';
import { KIND_WORDS, listAddable, newCondition, unwrap } from './shapes.ts';
import type { Condition, Of, RunScene } from './shapes.ts';

type Props = Scene & {
  condition: Condition;
  onChange: (condition: Condition) => void;
  /** Where it is, as a JSON pointer into the conditions. */
  at: string;
};

type AddProps = { run: RunScene | undefined; onAdd: (condition: Condition) => void };

const Add = ({ run, onAdd }: AddProps) => (
  <Menu shadow="md" position="bottom-start" withinPortal>
    <Menu.Target>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
      >
        Add a condition
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      {listAddable(run).map((kind) => (
        <Menu.Item key={kind} onClick={() => onAdd(newCondition(kind, run))}>
          {KIND_WORDS[kind]}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);

const One = ({ condition, onChange, at, onRemove, ...scene }: Props & { onRemove: () => void }) => {
  const { isNot, inner } = unwrap(condition);
  const word = KIND_WORDS[inner.kind] ?? inner.kind;
  const set = (next: Condition) => onChange(isNot ? { kind: 'not', of: next } : next);
  const place = isNot ? `${at}/of` : at;
  return (
    <Paper withBorder p="sm" component="li">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" fw={600}>
            {word}
          </Text>
          <Group gap="xs" wrap="nowrap">
            <Switch
              size="xs"
              label="not"
              checked={isNot}
              aria-label={`Not: ${word}`}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? { kind: 'not', of: inner } : inner)
              }
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove: ${word}`}
              onClick={onRemove}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        </Group>
        {inner.kind === 'all' || inner.kind === 'any' ? (
          <Several {...scene} condition={inner} onChange={set} at={place} />
        ) : (
          <LeafFields {...scene} condition={inner} onChange={set} at={place} />
        )}
      </Stack>
    </Paper>
  );
};

type SeveralProps = Omit<Props, 'condition'> & { condition: Of<'all'> | Of<'any'> };

const Several = ({ condition, onChange, at, ...scene }: SeveralProps) => (
  <Stack gap="xs">
    <SegmentedControl
      size="xs"
      aria-label="How many must hold"
      style={{ alignSelf: 'flex-start' }}
      data={[
        { value: 'all', label: 'All of these' },
        { value: 'any', label: 'Any of these' },
      ]}
      value={condition.kind}
      onChange={(kind) => onChange({ ...condition, kind: kind === 'any' ? 'any' : 'all' })}
    />
    <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {condition.of.map((one, place) => (
        <One
          {...scene}
          key={place}
          condition={one}
          at={`${at}/of/${place}`}
          onChange={(next) =>
            onChange({
              ...condition,
              of: condition.of.map((other, index) => (index === place ? next : other)),
            })
          }
          onRemove={() =>
            onChange({ ...condition, of: condition.of.filter((_, index) => index !== place) })
          }
        />
      ))}
    </Stack>
    {scene.errorAt(`${at}/of`) !== undefined && condition.of.length === 0 && (
      <Text size="sm" c="red">
        Add a condition: nobody and everybody match nothing.
      </Text>
    )}
    <Add
      run={scene.run}
      onAdd={(added) => onChange({ ...condition, of: [...condition.of, added] })}
    />
  </Stack>
);

const asGroup = (condition: Condition): Of<'all'> | Of<'any'> =>
  condition.kind === 'all' || condition.kind === 'any'
    ? condition
    : { kind: 'all', of: [condition] };

/** Conditions about people inside each other. One alone is shown as a group of one. */
export const ConditionTree = ({ condition, at, errorAt, ...rest }: Props) => {
  const isGroup = condition.kind === 'all' || condition.kind === 'any';
  const mapped = (pointer: string) =>
    errorAt(isGroup ? pointer : pointer.replace(`${at}/of/0`, at));
  return <Several {...rest} condition={asGroup(condition)} at={at} errorAt={mapped} />;
};
