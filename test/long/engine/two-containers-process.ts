// An engine in a process of its own, which says when it works. The lines that its commands write are in a file.

import { shell } from '../../../src/commands/shell.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'

const { ledger, command } = JSON.parse(process.argv[2] as string) as { ledger: string; command?: string }
const engine = await createEngine({ ledger, executors: { shell }, onError: () => {} })
if (command !== undefined) await engine.create({ executor: 'shell', key: 'command', input: { run: command } })
process.stdout.write('ready\n')
process.stdin.on('close', () => process.exit(3)).resume()
