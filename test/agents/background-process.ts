// An agent with a command in the background, in a process of its own that is to be killed. Its model never gets beyond
// its second step, so that the end of the command is notified and not yet read. Prints what has happened, line by line.
import { commandAbilities } from '../../src/commands/operations/command-abilities.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { llm } from './world.ts'

export interface BackgroundOrders {
  ledger: string
  folder: string
  command: string
}

/** The task that both processes use. */
export const backgroundTask = { key: 'build', goal: 'Build it' }

if (import.meta.main) {
  const { ledger, folder, command } = JSON.parse(process.argv[2] as string) as BackgroundOrders
  const say = (what: string) => process.stdout.write(`${JSON.stringify({ what })}\n`)
  const model = llm((_input, step) =>
    step === 1
      ? { toolCalls: [{ id: 'b', name: 'shell_background', arguments: { command } }] }
      : new Promise<never>(() => {}),
  )
  const engine = (await createEngine({ ledger, abilities: [model.ability, ...commandAbilities(folder)] })) as Engine
  await engine.create(backgroundTask)
  for await (const { type, data } of engine.events()) {
    if (type === 'output.written') say('printed')
    if (type === 'message.appended' && String(data['messageId']).includes('-told-')) say('notified')
  }
}
