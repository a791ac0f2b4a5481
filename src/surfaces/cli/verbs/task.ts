// `errand task`: tasks with a team of agents and a shared memory, and the verbs for them.
import { misuse } from '../../terminal/arguments.ts'
import { defineVerb, verbTable } from '../verb.ts'

const taskVerbs = verbTable({
  context: { summary: 'print everything needed to work on a task', load: () => import('./task/work.ts') },
  join: { summary: 'start working on a task', load: () => import('./task/work.ts') },
  leave: {
    summary: 'stop working on a task, and merge your facts into those of the team',
    load: () => import('./task/work.ts'),
  },
  objectives: { summary: 'list or add objectives', load: () => import('./task/objectives.ts') },
  objective: { summary: 'change the state of an objective', load: () => import('./task/objectives.ts') },
  complete: {
    summary: 'complete a task, and merge its durable facts into the branch above',
    load: () => import('./task/work.ts'),
  },
  teams: { summary: 'list the tasks that have a team', load: () => import('./task/reports.ts') },
  types: { summary: 'compare tasks by type', load: () => import('./task/reports.ts') },
  timeline: { summary: 'list the work of an agent', load: () => import('./task/reports.ts') },
})

export const task = defineVerb({
  usage: `task ${Object.keys(taskVerbs).join('|')}`,
  help: [
    'For tasks with a team: several agents, each with its own branch of memory below that of the task. "errand add NAME --team" creates one; any other task gets a team when the first agent joins.',
    'Agents that run here join and leave automatically. "errand memory" shows their facts.',
  ].join('\n'),
  positionals: { max: 0 },
  verbs: taskVerbs,
  async run() {
    throw misuse(`The verb is missing: ${Object.keys(taskVerbs).join(', ')}. "errand help task" describes them.`)
  },
})
