import { Anchor, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';

const places = [
  { to: '/access-requests', label: 'Access requests' },
  { to: '/people', label: 'People' },
] as const;

/** The pages of the installation, for its administrators. */
export const PlacesOfAdministrators = () => (
  <Group component="nav" aria-label="Installation" gap="md">
    {places.map(({ to, label }) => (
      <Anchor
        key={to}
        size="sm"
        renderRoot={(props) => (
          <Link {...props} to={to} activeProps={{ 'aria-current': 'page', style: BOLD }} />
        )}
      >
        {label}
      </Anchor>
    ))}
  </Group>
);

const BOLD = { fontWeight: 700 };
