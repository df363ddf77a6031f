import { z } from 'zod';

const STEP_ID = /^[a-z][a-z0-9_]{0,49}$/;

export const StepId = z.string().regex(STEP_ID, 'lower case letters, digits and _, at most 50');
