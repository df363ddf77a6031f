import { Anchor, Container } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Empty } from './empty.tsx';

export const Missing = () => (
  <Container size="sm" py="xl" component="main">
    <Empty isPage title="There is no such page">
      <Anchor renderRoot={(props) => <Link {...props} to="/" />}>Go to the overview</Anchor>
    </Empty>
  </Container>
);
