import { ActionIcon, Button, Group, SegmentedControl, Text, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconCircleCheck,
  IconExclamationCircle,
  IconPlayerPlay,
  IconSettings,
} from '@tabler/icons-react';
import { useEffect } from 'react';
import type { View } from './canvas.tsx';
import { SETTINGS_PANEL, SIMULATE_PANEL, TRIGGER_PANEL, useEditor } from './editor_context.ts';
import type { Definition } from './exits.ts';
import type { History } from './history.ts';

const VIEWS = [
  { value: 'graph', label: 'Graph' },
  { value: 'list', label: 'List' },
  { value: 'code', label: 'Code' },
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, [contenteditable]') !== null;

/** Ctrl Z takes back, Ctrl Shift Z or Ctrl Y makes again; fields have their own. */
const useKeys = ({ undo, redo }: History<Definition>): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || isTyping(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === 'z' && !event.shiftKey) undo();
      else if (key === 'y' || key === 'z') redo();
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [undo, redo]);
};

/** Whatever is wrong, in one place; each leads to where it is. */
const Verdict = () => {
  const { issues, select } = useEditor();
  const [first] = issues;
  if (!first)
    return (
      <Group gap={4} wrap="nowrap">
        <IconCircleCheck size={18} color="var(--mantine-color-teal-6)" />
        <Text size="sm" c="dimmed">
          Nothing is wrong
        </Text>
      </Group>
    );
  const [, part = '', id = ''] = first.path.split('/');
  const where = part === 'steps' ? id : part === 'settings' ? SETTINGS_PANEL : TRIGGER_PANEL;
  return (
    <Button
      size="compact-sm"
      variant="light"
      color="red"
      leftSection={<IconExclamationCircle size={16} />}
      onClick={() => select(where)}
      title={first.message}
    >
      {issues.length === 1 ? '1 thing is wrong' : `${issues.length} things are wrong`}
    </Button>
  );
};

type Props = { history: History<Definition>; view: View; onView: (view: View) => void };

export const Toolbar = ({ history, view, onView }: Props) => {
  const { select } = useEditor();
  useKeys(history);
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="View"
          data={VIEWS}
          value={view}
          onChange={(next) => onView(next as View)}
        />
        <Tooltip label="Undo (Ctrl Z)">
          <ActionIcon
            variant="default"
            aria-label="Undo"
            disabled={!history.canUndo}
            onClick={history.undo}
          >
            <IconArrowBackUp size={18} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Redo (Ctrl Shift Z)">
          <ActionIcon
            variant="default"
            aria-label="Redo"
            disabled={!history.canRedo}
            onClick={history.redo}
          >
            <IconArrowForwardUp size={18} />
          </ActionIcon>
        </Tooltip>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconSettings size={16} />}
          data-opens={SETTINGS_PANEL}
          onClick={() => select(SETTINGS_PANEL)}
        >
          Settings
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlayerPlay size={16} />}
          data-opens={SIMULATE_PANEL}
          onClick={() => select(SIMULATE_PANEL)}
        >
          Simulate
        </Button>
      </Group>
      <Verdict />
    </Group>
  );
};
