// `errand schedule`: lists the schedules, and the verbs below it.
import { type Verb, verbTable } from '../verb.ts'
import { ls } from './schedule/schedules.ts'

const scheduleVerbs = verbTable({
  add: { summary: 'add a schedule, or update it', load: () => import('./schedule/add.ts') },
  ls: { summary: 'list the schedules', load: () => import('./schedule/schedules.ts') },
  pause: { summary: 'make no tasks until it is resumed', load: () => import('./schedule/schedules.ts') },
  resume: { summary: 'resume a paused schedule', load: () => import('./schedule/schedules.ts') },
  trigger: { summary: 'make a task now', load: () => import('./schedule/schedules.ts') },
  backfill: { summary: 'make the tasks of past times', load: () => import('./schedule/schedules.ts') },
  rm: { summary: 'remove a schedule', load: () => import('./schedule/schedules.ts') },
})

export const schedule: Verb = { ...ls, usage: 'schedule [VERB]', verbs: scheduleVerbs }
