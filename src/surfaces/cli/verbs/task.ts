// `errand task`: tasks that several agents work on with one memory, and the verbs that belong to them.
import { misuse } from '../arguments.ts'
import { defineVerb, type VerbTable } from '../verb.ts'

const taskVerbs: VerbTable = {
  context: {
    summary: 'what one has to know to work on it',
    load: async () => (await import('./task/context.ts')).contextVerb,
  },
  join: { summary: 'begin to work on it', load: async () => (await import('./task/join.ts')).joinVerb },
  leave: {
    summary: 'end your work on it, and leave what you found to the team',
    load: async () => (await import('./task/leave.ts')).leaveVerb,
  },
  objectives: {
    summary: 'what is to be reached, and by whom',
    load: async () => (await import('./task/objectives.ts')).objectivesVerb,
  },
  objective: {
    summary: 'say how far an objective is',
    load: async () => (await import('./task/objective.ts')).objectiveVerb,
  },
  complete: {
    summary: 'complete it, and let what lasts reach the branch above',
    load: async () => (await import('./task/complete.ts')).completeVerb,
  },
  teams: { summary: 'the tasks that have a team', load: async () => (await import('./task/teams.ts')).teamsVerb },
  types: {
    summary: 'how tasks of each type went',
    load: async () => (await import('./task/type-report.ts')).typesVerb,
  },
  timeline: {
    summary: 'what an agent has worked on',
    load: async () => (await import('./task/timeline.ts')).timelineVerb,
  },
}

export const taskVerb = defineVerb({
  usage: `task ${Object.keys(taskVerbs).join('|')}`,
  help: [
    'For tasks that a team works on: several agents, each on a branch of memory of its own below that of the task. "errand add NAME --team" makes one; any other task gets its team with the first agent that joins.',
    'Agents that run here join and leave by themselves. "errand memory" shows what they observed and what came of it.',
  ].join('\n'),
  options: {},
  positionals: { max: 0 },
  verbs: taskVerbs,
  async run() {
    throw misuse(`Say what about the task: ${Object.keys(taskVerbs).join(', ')}. "errand help task" says more.`)
  },
})
