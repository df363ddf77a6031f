import { Anchor, AppShell, Container, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Brand } from './brand.tsx';
import { ColorSchemeSwitch } from './color_scheme.tsx';
import { SendingHeld } from './sending_held.tsx';

const HEADER_PX = 56;
const PAGE_PX = 900;

/** What surrounds pages that belong to no project. */
export const Outside = ({ children }: { children: ReactNode }) => (
  <AppShell header={{ height: HEADER_PX }} padding={{ base: 'sm', sm: 'lg' }}>
    <AppShell.Header>
      <Group h="100%" px="md" justify="space-between" wrap="nowrap">
        <Brand />
        <Group gap="sm" wrap="nowrap">
          <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/" />}>
            Projects
          </Anchor>
          <ColorSchemeSwitch />
        </Group>
      </Group>
    </AppShell.Header>
    <AppShell.Main>
      <Container size={PAGE_PX} px={0}>
        <SendingHeld />
        {children}
      </Container>
    </AppShell.Main>
  </AppShell>
);
