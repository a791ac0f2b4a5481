// An MCP server in its own process, on the ledger named by its first argument. Its executors do what the tests need: one returns at once,
// one asks, and one runs until a file says that it should end.
import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { createEngine } from '../../../src/index.ts'
import { serveMcpStdio } from '../../../src/surfaces/mcp/index.ts'
import { allTools } from './all-tools.ts'

const [, , ledger = ':memory:', agent] = process.argv

/** Resolves when this file exists. */
function fileAppears(file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(dirname(file), look)
    function look(): void {
      if (!existsSync(file)) return
      watcher.close()
      resolve()
    }
    signal.addEventListener('abort', () => {
      watcher.close()
      reject(signal.reason as Error)
    })
    look()
  })
}

await using engine = await createEngine({
  ledger,
  executors: {
    echo: (task) => ({ said: task.input }),
    asks: async (_task, run) => ({ answer: await run.ask('Which colour?', { type: 'string' }, { for: 'anyone' }) }),
    fails: () => {
      throw new Error('No such luck')
    },
    until: async (task, run) => {
      await fileAppears((task.input as { file: string }).file, run.signal)
      return 'seen'
    },
  },
})
await serveMcpStdio(engine, { abilities: allTools, ...(agent === undefined ? {} : { as: agent }) })
