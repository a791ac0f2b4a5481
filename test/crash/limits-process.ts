// One of several engines on one ledger, whose runs leave a mark in a file when they begin and when they end: what was open at
// once can be read off the order of the marks. It works until it is told to leave.

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createEngine } from '../../src/create-engine.ts'

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
