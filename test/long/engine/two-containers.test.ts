// Two containers share a volume with a SQLite ledger. The engine of the first is killed, and the container lives on, with its command.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { engineIn, hasContainers, startContainer, temporaryFolder } from './two-containers.ts'

it.skipIf(!hasContainers)(
  'a command is not run by a second container beside the first one, where it still runs',
  async () => {
    const folder = temporaryFolder()
    const [ledger, log, end] = ['l.db', 'log', 'end'].map((name) => join(folder, name)) as [string, string, string]
    const command = `echo begins >> ${log}; while [ ! -e ${end} ]; do sleep 0.05; done; echo ends >> ${log}`
    const first = await startContainer({ ledger, command })
    await expect.poll(() => existsSync(log), { timeout: 10_000 }).toBe(true)
    await startContainer({ ledger })
    process.kill(engineIn(first), 'SIGKILL')

    const reader = await createEngine({ ledger, work: false })
    const [task] = (await reader.list()).tasks
    await expect(reader.result(task!.id)).rejects.toThrow('Its command may still run')
    await reader.close()
    appendFileSync(end, '')
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 10_000 }).toBe('begins\nends\n')
  },
)
