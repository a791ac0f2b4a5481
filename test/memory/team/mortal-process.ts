// A process that plays the story and is killed by SIGKILL while it completes an agent or the task.
import { createEngine } from '../../../src/engine/create-engine.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { failingLedger } from './failing-ledger.ts'
import { completeAda, completeAll, playStory } from './story.ts'

const [file, step, after] = process.argv.slice(2) as [string, string, string]
const strike = () => process.kill(process.pid, 'SIGKILL')
const { ledger } = failingLedger(await openLedger(file), { step, after: Number(after), strike })
const engine = await createEngine({ ledger, work: false })
const taskId = await playStory(engine)
await completeAda(engine.bus, taskId)
await completeAll(engine.bus, taskId)
