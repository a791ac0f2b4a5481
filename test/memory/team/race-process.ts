// One of several processes that complete the same agents and tasks at once. It begins when notified and reports the outcome of each call.
import { once } from 'node:events'
import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'

const [file, ...taskIds] = process.argv.slice(2) as [string, ...string[]]
const engine = await createEngine({ ledger: file, work: false })
process.stdout.write('ready\n')
await once(process.stdin, 'data')

const outcomes: Record<string, string[]> = {}
for (const taskId of taskIds) {
  const said: string[] = []
  outcomes[taskId] = said
  for (const [abilityId, input] of [
    ['agent:join', { taskId, agentId: 'bob' }],
    ['agent:complete', { taskId, agentId: 'ada' }],
    ['task:complete', { taskId, agents: 'complete' }],
  ] as const) {
    try {
      said.push(JSON.stringify(await engine.bus.call(abilityId as string, input)))
    } catch (error) {
      said.push(ErrandError.isInstance(error) ? error.code : String(error))
    }
  }
}
await engine.close()
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
process.stdin.destroy()
