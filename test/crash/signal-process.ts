// One of several processes that send the same signals to a task, each many times. It begins when it reads a line, so that all begin together.
import { once } from 'node:events'
import { createEngine } from '../../src/engine/create-engine.ts'

const [ledger, taskId, ids, rounds] = process.argv.slice(2) as [string, string, string, string]
const errors: string[] = []
const engine = await createEngine({ ledger, work: false, onError: (error) => errors.push(String(error)) })
process.stdout.write('ready\n')
await once(process.stdin, 'data')
let sent = 0
for (let round = 0; round < Number(rounds); round++) {
  const sends = Array.from({ length: Number(ids) }, (_, n) => `evt_${n}`).map((id) =>
    engine.signal(taskId, 'event', id, { id }).then(
      () => sent++,
      (error: unknown) => errors.push(String(error)),
    ),
  )
  await Promise.all(sends)
}
await engine.close()
process.stdout.write(`${JSON.stringify({ sent, errors })}\n`)
process.stdin.destroy()
