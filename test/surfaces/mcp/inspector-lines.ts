// The command line of the MCP Inspector in one process for many commands, run as its own launcher runs it: a command is a line of JSON, the
// arguments, on standard input; each has its outcome, { code, result?, error? }, as a line on standard output.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [, , inspector = ''] = process.argv
const { runCli } = (await import(pathToFileURL(inspector).href)) as { runCli(argv: string[]): Promise<void> }

/** The result of a command is what it writes to standard output. */
async function run(args: string[]): Promise<object> {
  const { write } = process.stdout
  let out = ''
  process.stdout.write = ((text: string, done?: () => void) => {
    out += text
    done?.()
    return true
  }) as typeof write
  try {
    await runCli([process.execPath, inspector, ...args])
    return { code: 0, ...(JSON.parse(out) as object) }
  } catch (error) {
    const { exitCode = 1, message } = error as { exitCode?: number; message?: string }
    return { code: exitCode, error: message }
  } finally {
    process.stdout.write = write
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await run(JSON.parse(line) as string[])
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
process.exit(0)
