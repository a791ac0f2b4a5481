// Eight processes at once: four edit the files, four use the ledger and mirror it into the same folder. No update is lost or undone, no
// reader finds a torn file, and every refused edit is reported once. Three planted faults must be detected.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EditorOrders, EditorReport } from '../../../board/mirror/editor-process.ts'
import type { Fault } from '../../../board/mirror/planted-faults.ts'
import { startProcess } from '../../../board/mirror/processes.ts'
import type { WorkerOrders, WorkerReport } from '../../../board/mirror/worker-process.ts'
import { createFolder, filesIn, openWorld } from '../../../board/mirror/world.ts'

const ownFiles = (editor: number) => [3 * editor - 2, 3 * editor - 1, 3 * editor]
/** Files that are not edited. */
const steady = [13, 14, 15, 16]

async function torture(time: number, fault?: Fault) {
  const folder = createFolder()
  const [ledger, dir] = [join(folder, 'ledger.db'), join(folder, '.tasks')]
  const world = await openWorld(ledger, dir)
  for (let number = 1; number <= 16; number++) await world.add(`task ${number}`)
  const mirror = await world.open()
  await mirror.sync()
  await mirror.close()
  const tasks = Array.from({ length: 16 }, (_, index) => index + 1)
  const workers = [1, 2, 3, 4].map((worker) =>
    startProcess('worker-process.ts', { ledger, dir, worker, tasks, pause: 10, fault } satisfies WorkerOrders),
  )
  for (const worker of workers) await worker.received((line) => 'ready' in line)
  const editors = [1, 2, 3, 4].map((editor) => {
    const how = editor % 2 === 0 ? 'in place' : 'rename'
    const read = [1, 3].filter((other) => other !== editor).flatMap(ownFiles)
    return startProcess('editor-process.ts', {
      dir,
      editor,
      how,
      own: ownFiles(editor),
      read,
      steady,
      time,
    } satisfies EditorOrders)
  })
  const edited: EditorReport[] = []
  for (const { received } of editors)
    edited.push((await received((line) => 'report' in line))['report'] as EditorReport)
  for (const { say } of workers) say('enough')
  for (const { end } of workers) end()
  const worked: WorkerReport[] = []
  for (const { received } of workers)
    worked.push((await received((line) => 'report' in line))['report'] as WorkerReport)
  const last = await world.open()
  const repair = await last.sync()
  return { world, dir, edited, worked, repair, again: await last.sync() }
}

/** Violations in words; empty for a correct mirror. */
async function complaintsOf({
  world,
  dir,
  edited,
  worked,
  again,
}: Awaited<ReturnType<typeof torture>>): Promise<string[]> {
  const complaints = [
    ...edited.flatMap(({ torn, missing, wentBack }) => [
      ...torn.map((each) => `torn ${each}`),
      ...missing.map((each) => `missing ${each}`),
      ...wentBack.map((each) => `went back: ${each}`),
    ]),
    ...edited.flatMap(({ lost }) => lost.map((each) => `lost edit: ${each}`)),
    ...worked.flatMap(({ undone, errors }) => [...undone.map((each) => `undone: ${each}`), ...errors]),
  ]
  const refused = worked.flatMap((each) => each.refused)
  const copies = readdirSync(dir).includes('refused') ? readdirSync(join(dir, 'refused')) : []
  const texts = copies.map((name) => filesIn(dir).text(join('refused', name)))
  const forbidden = edited.flatMap((each) => each.forbidden)
  for (const what of forbidden) {
    if (texts.filter((text) => text.includes(`"${what}"`)).length !== 1) complaints.push(`no copy of ${what}`)
  }
  const reported = refused.filter(({ why }) => why.includes('status'))
  if (reported.length !== forbidden.length)
    complaints.push(`${forbidden.length} forbidden edits, ${reported.length} refusals reported`)
  complaints.push(
    ...refused.filter(({ why }) => !why.includes('status')).map(({ file, why }) => `refused ${file}: ${why}`),
  )
  for (const [index, { last }] of edited.entries()) {
    for (const [number, value] of Object.entries(last)) {
      const is = (await world.task(Number(number))).extra?.[`editor${index + 1}`]
      if (is !== value) complaints.push(`task ${number}: editor ${index + 1} wrote ${value}, the ledger says ${is}`)
    }
  }
  for (const [index, { last }] of worked.entries()) {
    for (const [number, value] of Object.entries(last)) {
      const is = (await world.task(Number(number))).metadata[`worker${index + 1}`]
      if (is !== value) complaints.push(`task ${number}: worker ${index + 1} wrote ${value}, the ledger says ${is}`)
    }
  }
  const writers = worked.filter((each) => each.isWriter).length
  if (writers !== 1) complaints.push(`${writers} mirrors have written`)
  if (again.written.length > 0) complaints.push(`not in step: ${again.written.join(', ')}`)
  return complaints
}

const time = Number(process.env['ERRAND_TORTURE_MS'] ?? 4_000)

describe('Eight processes on one folder and one ledger', () => {
  it(
    'S4-009 eight processes on one folder and ledger lose no update, tear no file, and report every refusal',
    async () => {
      const outcome = await torture(time)
      const { edited, worked } = outcome
      const sum = (of: readonly number[]) => of.reduce((all, each) => all + each, 0)
      console.log(
        `${time} ms: ${sum(edited.map((each) => each.taken))} edits taken, ${edited.flatMap((each) => each.forbidden).length} refused, ` +
          `${sum(worked.map((each) => each.changes))} changes of the ledger, ${sum(worked.map((each) => each.written))} files written, ` +
          `${sum(edited.map((each) => each.reads))} reads, ` +
          `${sum(edited.map((each) => each.briefly))} of a file that was away for a moment`,
      )
      expect(await complaintsOf(outcome)).toEqual([])
      expect(sum(edited.map((each) => each.taken))).toBeGreaterThan(4)
      expect(edited.flatMap((each) => each.forbidden).length).toBeGreaterThan(0)
    },
    time * 3 + 180_000,
  )

  const faults: Array<[Fault, string, RegExp]> = [
    ['latest', 'compares an edit with the latest text only undoes what happened meanwhile', /undone|worker/],
    ['in place', 'writes in place tears files', /torn/],
    ['no election', 'writes without being elected interferes with the others', /[2-4] mirrors have written/],
  ]
  it.each(faults)(
    'the torture test detects a planted fault (%s): a mirror that %s',
    async (fault, _what, found) => {
      // Beside busy processes a run may end before the fault shows: then it is repeated.
      let complaints = ''
      for (let tried = 0; tried < 10 && !found.test(complaints); tried++) {
        complaints = (await complaintsOf(await torture(1_000, fault))).join('\n')
      }
      expect(complaints).toMatch(found)
    },
    240_000,
  )
})
