// Copies a ledger in a process of its own, to be killed: prints a line for each progress.
import { copyLedger } from '../../../src/ledger/copy/copy-ledger.ts'

const [from = '', to = ''] = process.argv.slice(2)
const report = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)
report({ done: await copyLedger(from, to, { onProgress: report }) })
