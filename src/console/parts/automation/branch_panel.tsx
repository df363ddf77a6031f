import { ActionIcon, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { ConditionTree } from '../condition/condition_tree.tsx';
import { newCondition } from '../condition/shapes.ts';
import { errorAt, useEditor } from './editor_context.ts';
import type { StepOf } from './exits.ts';
import { withoutLost } from './model.ts';

type Props = { id: string; step: StepOf<'branch'> };
type Branch = StepOf<'branch'>['branches'][number];

/** What a new way asks, until its author says. */
const NEW_WHEN: Branch['when'] = { kind: 'all', of: [newCondition('trait')] };

const Way = ({ id, step, at, branch }: Props & { at: number; branch: Branch }) => {
  const { setStep, definition, change, projectId, issues } = useEditor();
  const run = {
    emailSteps: Object.keys(definition.steps).filter(
      (one) => definition.steps[one]?.kind === 'send_email',
    ),
    hasEvent: definition.trigger.kind === 'event',
  };
  const set = (when: Branch['when']) =>
    setStep(id, {
      ...step,
      branches: step.branches.map((one, place) => (place === at ? { ...one, when } : one)),
    });
  const remove = (): void => {
    const branches = step.branches.filter((_, place) => place !== at);
    const steps = { ...definition.steps, [id]: { ...step, branches } };
    change(withoutLost(definition, { ...definition, steps }));
  };
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            {step.branches.length === 1 ? 'Yes, when' : `Way ${at + 1}, when`}
          </Text>
          {step.branches.length > 1 && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove way ${at + 1}`}
              onClick={remove}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
        <ConditionTree
          projectId={projectId}
          condition={branch.when}
          onChange={set}
          at={`/steps/${id}/branches/${at}/when`}
          errorAt={(pointer) => errorAt(issues, pointer)}
          run={run}
        />
      </Stack>
    </Paper>
  );
};

export const BranchPanel = ({ id, step }: Props) => {
  const { setStep } = useEditor();
  const add = (): void =>
    setStep(id, {
      ...step,
      branches: [...step.branches, { when: NEW_WHEN, next: null }],
    });
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        A person takes the first way whose condition holds, else the way “Otherwise”.
      </Text>
      {step.branches.map((branch, at) => (
        <Way key={at} id={id} step={step} at={at} branch={branch} />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={add}
      >
        Add a way
      </Button>
    </Stack>
  );
};
