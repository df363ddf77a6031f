import {
  Box,
  Center,
  CloseButton,
  Drawer,
  Group,
  Loader,
  Paper,
  ScrollArea,
  Title,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Suspense, useEffect, useRef } from 'react';
import { partOf } from '../../load.ts';
import { TRIGGER_PANEL, useEditor, WIDE } from './editor_context.ts';
import { Outline } from './outline.tsx';
import { Panel, usePanelTitle } from './panel.tsx';

const Graph = partOf(() => import('./graph.tsx'));
const Code = partOf(() => import('./definition_code.tsx'));

export type View = 'graph' | 'list' | 'code';

const PANEL_WIDTH_PX = 380;
const CANVAS_HEIGHT = 'max(460px, calc(100dvh - 250px))';

const Wait = () => (
  <Center h={300}>
    <Loader role="progressbar" aria-label="Loading" />
  </Center>
);

/** The panel beside the graph: whoever comes to it by the keyboard is in it at once, and goes back by Escape. */
const Side = () => {
  const { selected, select } = useEditor();
  const title = usePanelTitle();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement?.matches('[data-step]')) return;
    // It was open from the start: nobody has asked for it.
    if (activeElement === document.body && selected === TRIGGER_PANEL) return;
    box.current?.focus({ preventScroll: true });
  }, [selected]);
  const close = (): void => {
    const opener = `[data-step="${selected}"], [data-opens="${selected}"]`;
    select(null);
    document.querySelector<HTMLElement>(opener)?.focus();
  };
  return (
    <Paper
      withBorder
      w={PANEL_WIDTH_PX}
      h={CANVAS_HEIGHT}
      style={{ flex: 'none' }}
      component="section"
      aria-label="What is open"
    >
      <ScrollArea h="100%" type="auto">
        <div
          ref={box}
          tabIndex={-1}
          className="step-panel"
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !event.defaultPrevented) close();
          }}
        >
          <Group justify="space-between" wrap="nowrap" mb="md">
            <Title order={2} size="h4">
              {title}
            </Title>
            <CloseButton aria-label="Close the panel" onClick={close} />
          </Group>
          <Panel />
        </div>
      </ScrollArea>
    </Paper>
  );
};

/** The automation as a graph, as a list or as code, and beside it what is open. */
export const Canvas = ({ view }: { view: View }) => {
  const isWide = useMediaQuery(WIDE) ?? true;
  const { selected, select } = useEditor();
  const title = usePanelTitle();
  return (
    <Box style={{ display: 'flex', gap: 16 }}>
      <Box flex={1} miw={0} h={view === 'graph' ? CANVAS_HEIGHT : undefined}>
        <Suspense fallback={<Wait />}>
          {view === 'graph' && <Graph />}
          {view === 'list' && <Outline />}
          {view === 'code' && <Code />}
        </Suspense>
      </Box>
      {isWide && selected !== null && <Side />}
      {!isWide && (
        <Drawer
          opened={selected !== null}
          onClose={() => select(null)}
          position="bottom"
          size="90%"
          title={title}
          closeButtonProps={{ 'aria-label': 'Close the panel' }}
        >
          <Panel />
        </Drawer>
      )}
    </Box>
  );
};
