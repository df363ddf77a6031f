import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Group,
  NavLink,
  Select,
  ScrollArea,
  Stack,
  Tooltip,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBell,
  IconClockOff,
  IconCode,
  IconHistory,
  IconGauge,
  IconKey,
  IconLayoutDashboard,
  IconLink,
  IconLogout,
  IconMailForward,
  IconMailOff,
  IconRoute,
  IconServer,
  IconSend,
  IconTemplate,
  IconUserCog,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { lastProject } from '../last_project.ts';
import { AlertBanner } from './alert_banner.tsx';
import { Empty } from './empty.tsx';
import { projects, session } from '../queries.ts';
import { useSession } from '../session.ts';
import { SkipLink } from './skip_link.tsx';
import { Brand } from './brand.tsx';
import { ColorSchemeSwitch } from './color_scheme.tsx';
import { SendingHeld } from './sending_held.tsx';

const HEADER_PX = 56;
const NAVBAR_PX = 230;
/** An entry of the navigation, and a little more. */
const PLACE_PX = 36;

const places = [
  { to: '/p/$projectId', label: 'Overview', Icon: IconLayoutDashboard, exact: true },
  { to: '/p/$projectId/automations', label: 'Automations', Icon: IconRoute, exact: false },
  { to: '/p/$projectId/templates', label: 'Templates', Icon: IconTemplate, exact: false },
  { to: '/p/$projectId/segments', label: 'Segments', Icon: IconUsersGroup, exact: false },
  { to: '/p/$projectId/sends', label: 'Send log', Icon: IconMailForward, exact: false },
  { to: '/p/$projectId/alerts', label: 'Alerts', Icon: IconBell, exact: false },
  { to: '/p/$projectId/profiles', label: 'Profiles', Icon: IconUsers, exact: false },
  { to: '/p/$projectId/links', label: 'Identity links', Icon: IconLink, exact: false },
  { to: '/p/$projectId/suppressions', label: 'Suppressions', Icon: IconMailOff, exact: false },
  {
    to: '/p/$projectId/settings/providers',
    label: 'Email providers',
    Icon: IconServer,
    exact: false,
  },
  { to: '/p/$projectId/settings/webhooks', label: 'Webhooks', Icon: IconWebhook, exact: false },
  {
    to: '/p/$projectId/settings/endpoints',
    label: 'Webhook endpoints',
    Icon: IconSend,
    exact: false,
  },
  {
    to: '/p/$projectId/settings/sending-limits',
    label: 'Sending limits',
    Icon: IconGauge,
    exact: false,
  },
  { to: '/p/$projectId/settings/sdk', label: 'SDK snippet', Icon: IconCode, exact: false },
  { to: '/p/$projectId/settings/members', label: 'Members', Icon: IconUserCog, exact: false },
  { to: '/p/$projectId/settings/keys', label: 'Keys', Icon: IconKey, exact: false },
  { to: '/p/$projectId/settings/retention', label: 'Retention', Icon: IconClockOff, exact: false },
  { to: '/p/$projectId/settings/audit', label: 'Audit log', Icon: IconHistory, exact: false },
] as const;

const ProjectPicker = ({ projectId }: { projectId: string }) => {
  const { data } = useQuery(projects);
  const navigate = useNavigate();
  return (
    <Select
      label="Project"
      data={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={projectId}
      allowDeselect={false}
      searchable
      onChange={(chosen) =>
        chosen && void navigate({ to: '/p/$projectId', params: { projectId: chosen } })
      }
    />
  );
};

/** Of a list that is scrolled, shows the page that is open, with one before it and one after it. */
const useOpenInSight = () => {
  const { pathname } = useLocation();
  const list = useRef<HTMLDivElement>(null);
  // Not `scrollIntoView`: the next Tab would go on from there.
  useEffect(() => {
    const open = list.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    const seen = list.current?.getBoundingClientRect();
    if (!open || !seen) return;
    const above = open.top - PLACE_PX - seen.top;
    const below = open.bottom + PLACE_PX - seen.bottom;
    list.current?.scrollBy({ top: Math.min(above, Math.max(below, 0)) });
  }, [pathname]);
  return list;
};

const Navigation = ({ projectId, onGo }: { projectId: string; onGo: () => void }) => {
  const list = useOpenInSight();
  return (
    <AppShell.Section grow mt="md" mb="sm" component={ScrollArea} viewportRef={list}>
      <Stack gap={2} component="nav" aria-label="Pages">
        {places.map(({ to, label, Icon, exact }) => (
          <NavLink
            key={to}
            label={label}
            py={2}
            leftSection={<Icon size={18} stroke={1.6} />}
            renderRoot={(props) => (
              <Link
                {...props}
                to={to}
                params={{ projectId }}
                activeOptions={{ exact }}
                activeProps={{ 'data-active': true, 'aria-current': 'page' }}
                onClick={onGo}
              />
            )}
          />
        ))}
      </Stack>
    </AppShell.Section>
  );
};

const Account = () => {
  const { data } = useSuspenseQuery(session);
  const { signOut } = useSession();
  return (
    <Group justify="space-between" wrap="nowrap">
      <Stack gap={2} miw={0}>
        {data.person?.is_admin === true && (
          <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/access-requests" />}>
            Installation
          </Anchor>
        )}
        <Anchor
          size="sm"
          truncate
          title={data.person?.email ?? ''}
          renderRoot={(props) => <Link {...props} to="/account" />}
        >
          {data.person?.email}
        </Anchor>
      </Stack>
      <Tooltip label="Sign out">
        <ActionIcon
          variant="default"
          size="lg"
          onClick={() => void signOut()}
          aria-label="Sign out"
        >
          <IconLogout size={18} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
};

const NoSuchProject = () => (
  <Empty isPage title="There is no such project">
    Choose another one, or check the address.
  </Empty>
);

/** What surrounds every page of a project. */
export const Shell = () => {
  const { projectId } = useParams({ from: '/signed-in/p/$projectId' });
  const [isOpen, { toggle, close }] = useDisclosure();
  const { data } = useQuery(projects);
  // The list is cut at its end; past it, the pages themselves say what is not there.
  const isKnown = data?.next_cursor !== null || data.items.some(({ id }) => id === projectId);
  useEffect(() => lastProject.keep(projectId), [projectId]);
  return (
    <AppShell
      header={{ height: HEADER_PX }}
      navbar={{ width: NAVBAR_PX, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <SkipLink />
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Brand />
          </Group>
          <ColorSchemeSwitch />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="md" data-open={isOpen || undefined}>
        <AppShell.Section>
          <ProjectPicker projectId={projectId} />
        </AppShell.Section>
        <Navigation projectId={projectId} onGo={close} />
        <AppShell.Section>
          <Account />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <SendingHeld projectId={projectId} />
        {isKnown && <AlertBanner key={projectId} projectId={projectId} />}
        {isKnown ? <Outlet /> : <NoSuchProject />}
      </AppShell.Main>
    </AppShell>
  );
};
