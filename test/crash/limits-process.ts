// One of several engines on one ledger, whose runs write a line to a file when they begin and when they end: the order of the lines shows which
// runs were open at the same time. It works until it reads a line from stdin.

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createEngine } from '../../src/engine/create-engine.ts'

const [ledger, effects] = process.argv.slice(2) as [string, string]
const engine = await createEngine({
  ledger,
  executors: {
    tick: async () => {
      appendFileSync(effects, `begin ${process.pid}\n`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      appendFileSync(effects, `end ${process.pid}\n`)
    },
  },
})
process.stdout.write('ready\n')
await once(process.stdin, 'data')
await engine.close()
process.stdin.destroy()
