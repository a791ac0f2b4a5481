// The work of three agents, one after the other, and of a task after them: the same in every process. All of it is
// decided by the conversation alone, so that an engine that continues after a crash produces the same texts.

import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import { scenarioAbilities } from './kill-scenario.ts'
import { closed } from './team-world.ts'

/** Found by two of them: so it is more certain, and the fix of a bug is worth keeping. */
export const finding = 'The bug is that the redirect drops the session cookie.'
export const remark = 'The logout has not been tested so far.'

export const teamTask = {
  key: 'team',
  name: 'Repair the login',
  objectives: ['Find the cause', 'Repair it'],
  tasks: {
    find: { executor: 'finder', goal: 'Find the cause' },
    repair: { executor: 'fixer', goal: 'Repair it', after: 'find' },
    check: { executor: 'checker', goal: 'Check it', after: 'repair' },
  },
} as const

export const laterTask = {
  key: 'later',
  executor: 'reader',
  goal: 'What did the redirect do to the session cookie?',
} as const

const mark = (name: string, what: string) => ({ name, input: { mark: what } })

const scripts = {
  finder: [
    { text: 'I look at two things.', tools: [mark('test_note', 'one'), mark('test_boom', 'two')] },
    { text: finding },
  ],
  fixer: [{ tools: [mark('test_note', 'three')] }, { text: finding }],
  checker: [{ tools: [mark('test_note', 'four')] }, { text: remark }],
  reader: [{ text: 'It dropped it.' }],
}

export const workers = ['finder', 'fixer', 'checker'] as const

export function scenarioOptions(effects: string): EngineOptions<any> {
  const agents = Object.entries(scripts).map(([name, turns]) => [name, agent({ model: createScriptedModel(turns) })])
  return { executors: Object.fromEntries(agents), abilities: scenarioAbilities({ effects }) }
}

/** From the first task to the last; from any state of the ledger. */
export async function playTeamScenario(engine: Engine<any>): Promise<{ team: string; later: string }> {
  const team = await engine.create(teamTask)
  await closed(engine, team.id)
  const later = await engine.create(laterTask)
  await engine.settled(later.id)
  return { team: team.id, later: later.id }
}
