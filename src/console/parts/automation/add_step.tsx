import { ActionIcon, Menu, Text, ThemeIcon } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useEditor } from './editor_context.ts';
import type { Place } from './exits.ts';
import { KINDS, kinds } from './kinds.ts';
import { nextAt } from './model.ts';

/** The way to a new step at a place, which is named for people who do not see where it is. */
export const AddStep = ({ place, where }: { place: Place; where: string }) => {
  const { add, definition } = useEditor();
  const isEnd = nextAt(definition, place) === null;
  return (
    <Menu position="bottom" shadow="md" width={290} withinPortal trapFocus>
      <Menu.Target>
        <ActionIcon
          size={22}
          radius="xl"
          variant="filled"
          aria-label={`Add a step ${where}`}
          className="nodrag nopan"
        >
          <IconPlus size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className="nowheel" mah={420} style={{ overflowY: 'auto' }}>
        {KINDS.filter((kind) => kind !== 'exit' || isEnd).map((kind) => {
          const { word, about, color, Icon } = kinds[kind];
          return (
            <Menu.Item
              key={kind}
              leftSection={
                <ThemeIcon variant="light" color={color}>
                  <Icon size={18} stroke={1.6} />
                </ThemeIcon>
              }
              onClick={() => add(place, kind)}
            >
              <Text size="sm" fw={600}>
                {word}
              </Text>
              <Text size="xs" c="dimmed">
                {about}
              </Text>
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
};
