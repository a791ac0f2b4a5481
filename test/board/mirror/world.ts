// Boards with a folder, for the tests of the mirror: engines on a ledger in memory, real files, and mirrors that act only on request.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createEngine, exportBoard, importBoard, type MirrorOptions, mirrorBoard } from '../../../src/index.ts'

export type FileJson = Record<string, unknown>

/** A folder that is deleted after the test. */
export function createFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'errand-mirror-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export async function openWorld(ledger = ':memory:', dir = createFolder()) {
  const engine = await createEngine({ ledger, work: false })
  onTestFinished(() => engine.close())
  const call = async (ability: string, input: object): Promise<any> => engine.bus.call(ability, input)
  return {
    engine,
    dir,
    call,
    /** Creates a task and returns its number. */
    add: async (subject: string, more: object = {}): Promise<number> =>
      (await call('board:create', { subject, ...more })).task.id,
    task: async (id: number): Promise<any> => (await call('board:get', { id })).task,
    open: async (more: Partial<MirrorOptions> = {}) => {
      const mirror = await mirrorBoard(engine, { dir, watch: false, ...more })
      onTestFinished(() => mirror.close())
      return mirror
    },
    import: (from = dir) => importBoard(engine, { dir: from }),
    export: (to = dir) => exportBoard(engine, { dir: to }),
    ...filesIn(dir),
  }
}

export function filesIn(dir: string) {
  const at = (name: string | number) => join(dir, typeof name === 'number' ? `task_${name}.json` : name)
  const text = (name: string | number) => readFileSync(at(name), 'utf8')
  const read = (name: string | number): FileJson => JSON.parse(text(name)) as FileJson
  const write = (name: string | number, value: unknown) =>
    writeFileSync(at(name), typeof value === 'string' ? value : JSON.stringify(value, null, 2))
  return {
    at,
    text,
    read,
    write,
    /** Writes a file with changed keys; undefined removes a key. */
    edit: (number: number, changes: FileJson) => write(number, { ...read(number), ...changes }),
    exists: (name: string | number) => existsSync(at(name)),
    names: () => readdirSync(dir).filter((name) => name.startsWith('task_')),
  }
}
