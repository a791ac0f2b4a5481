// `errand task`: tasks that several agents work on with one memory, and the verbs that belong to them.
import { misuse } from '../../../terminal/arguments.ts'
import { defineVerb, verbTable } from '../verb.ts'

const taskVerbs = verbTable({
  context: { summary: 'what one has to know to work on it', load: () => import('./task/work.ts') },
  join: { summary: 'begin to work on it', load: () => import('./task/work.ts') },
  leave: {
    summary: 'end your work on it, and leave what you found to the team',
    load: () => import('./task/work.ts'),
  },
  objectives: { summary: 'what is to be reached, and by whom', load: () => import('./task/objectives.ts') },
  objective: { summary: 'say how far an objective is', load: () => import('./task/objectives.ts') },
  complete: {
    summary: 'complete it, and let what lasts reach the branch above',
    load: () => import('./task/work.ts'),
  },
  teams: { summary: 'the tasks that have a team', load: () => import('./task/reports.ts') },
  types: { summary: 'how tasks of each type went', load: () => import('./task/reports.ts') },
  timeline: { summary: 'what an agent has worked on', load: () => import('./task/reports.ts') },
})

export const task = defineVerb({
  usage: `task ${Object.keys(taskVerbs).join('|')}`,
  help: [
    'For tasks that a team works on: several agents, each on a branch of memory of its own below that of the task. "errand add NAME --team" makes one; any other task gets its team with the first agent that joins.',
    'Agents that run here join and leave by themselves. "errand memory" shows what they observed and what came of it.',
  ].join('\n'),
  positionals: { max: 0 },
  verbs: taskVerbs,
  async run() {
    throw misuse(`Say what about the task: ${Object.keys(taskVerbs).join(', ')}. "errand help task" says more.`)
  },
})
