import { Code, Container } from '@mantine/core';
import { Empty } from '../parts/empty.tsx';

export const NoProject = () => (
  <Container size="sm" py="xl" component="main">
    <Empty title="There is no project yet">
      Make one where the service runs: <Code>make project name="My shop"</Code>. It prints the
      project’s keys; then load this page again.
    </Empty>
  </Container>
);
