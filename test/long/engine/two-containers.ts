// Two "containers" on this machine: PID namespaces side by side, each with a first process that outlives the engine in it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { programOf } from '../../programs.ts'

const within = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const
const program = programOf(import.meta.dirname, 'two-containers-process.ts')

/** Whether this user may make PID namespaces here. */
export const hasContainers =
  process.platform === 'linux' && spawnSync(within[0], [...within.slice(1), 'true']).status === 0
if (!hasContainers) console.log('Skipped: PID namespaces cannot be made here (unshare --pid --mount-proc needs root).')

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-containers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts an engine in a PID namespace of its own; resolves when it works. */
export async function startContainer(options: { ledger: string; command?: string }): Promise<ChildProcess> {
  const [unshare, ...args] = within
  // `wait` would end with the engine: the namespace lives until the test has ended.
  const script = '"$@" & while :; do sleep 1; done'
  const engine = [process.execPath, '--disable-warning=ExperimentalWarning', program, JSON.stringify(options)]
  const child = spawn(unshare, [...args, 'sh', '-c', script, 'sh', ...engine], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  await once(child.stdout!, 'data')
  return child
}

/** The engine of a container, by its number here. */
export function engineIn(container: ChildProcess): number {
  const descendants = new Set([container.pid as number])
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  for (let before = 0; before !== descendants.size; ) {
    before = descendants.size
    for (const name of processes) if (descendants.has(parentOf(name))) descendants.add(Number(name))
  }
  const found = [...descendants].find((pid) => commandOf(pid).split('\0')[2] === program)
  if (found === undefined) throw new Error('no engine runs in the container')
  return found
}

function parentOf(pid: string): number {
  const stat = readFile(`/proc/${pid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function commandOf(pid: number): string {
  return readFile(`/proc/${pid}/cmdline`)
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
