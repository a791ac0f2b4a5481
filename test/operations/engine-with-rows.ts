// An engine on a ledger file that contains given tasks.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import { createEngine } from '../../src/index.ts'
import type { NewTask } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'

export async function engineWith(rows: Iterable<NewTask>): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-long-reads-'))
  const file = join(folder, 'ledger.db')
  const ledger = await openLedger(file)
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (const row of rows) yield* tx.task.insert(row)
    },
  })
  await ledger.close()
  const engine = await createEngine({ ledger: file, work: false })
  onTestFinished(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return engine
}
