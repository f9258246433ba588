// Signing in, and what a person keeps of their own: password and second factor.

import { keepCsrf, post } from "./api.js";
import { h, put } from "./dom.js";
import { capitalised } from "./words.js";

const field = (
  /** @type {string} */ label,
  /** @type {Record<string, any>} */ attributes,
  /** @type {string | null} */ hint = null,
) => {
  const id = `field-${attributes.name}`;
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h("input", { id, required: true, ...attributes, "aria-describedby": hint ? `${id}-hint` : null }),
    hint && h("small", { id: `${id}-hint` }, hint),
  );
};

/** Return a form that sends its fields to `work` and shows the reason of a refusal in its own place. */
export function form(
  /** @type {string} */ name,
  /** @type {Child[]} */ fields,
  /** @type {string} */ button,
  /** @type {(sent: Record<string, any>, drawn: Answer) => Promise<unknown>} */ work,
) {
  const fault = h("p", { class: "fault", role: "alert" });
  const send = h("button", { class: "main", type: "submit" }, button);
  const drawn = h(
    "form",
    {
      "aria-label": name,
      async onsubmit(/** @type {SubmitEvent} */ event) {
        event.preventDefault();
        send.disabled = true;
        fault.textContent = "";
        try {
          await work(Object.fromEntries(new FormData(drawn)), drawn);
        } catch (refused) {
          fault.textContent = worded(refused);
        } finally {
          send.disabled = false;
        }
      },
    },
    fields,
    fault,
    send,
  );
  return drawn;
}

function worded(/** @type {Answer} */ refused) {
  const text = capitalised(refused.message);
  if (refused.status !== 429 || !refused.retryAfter) return `${text}.`;
  return `${text}: try again in ${Math.ceil(refused.retryAfter / 60)} min.`;
}

/** Draw the sign-in. `onDone` is called once somebody is in. */
export function showSignIn(/** @type {{ main: HTMLElement, onDone: () => Promise<void> }} */ { main, onDone }) {
  document.title = "Sign in · Pitwatch";
  const code = h(
    "div",
    { class: "field", hidden: true },
    h("label", { for: "field-code" }, "Authenticator code"),
    h("input", { id: "field-code", name: "code", autocomplete: "one-time-code", maxlength: 40 }),
    h("small", {}, "Six digits, or one of your recovery codes."),
  );
  const drawn = form(
    "Sign in",
    [
      field("Name", { name: "name", autocomplete: "username", autocapitalize: "none", spellcheck: "false" }),
      field("Password", { name: "password", type: "password", autocomplete: "current-password" }),
      code,
    ],
    "Sign in",
    async (/** @type {Answer} */ { name, password, code: given }) => {
      try {
        const begun = await post("/api/sign-in", { name, password, ...(given ? { code: given } : {}) });
        keepCsrf(begun.csrf);
      } catch (refused) {
        if (asksForCode(refused)) {
          code.hidden = false;
          code.querySelector("input").focus();
        }
        throw refused;
      }
      await onDone();
    },
  );
  put(
    main,
    h(
      "section",
      { class: "entrance" },
      h("h1", { class: "brand" }, "PITWATCH"),
      h("p", { class: "quiet" }, "Every card seen. Every payout proved."),
      drawn,
    ),
  );
  drawn.querySelector("input").focus();
}

const asksForCode = (/** @type {Answer} */ { status, problem }) => status === 401 && problem.needs === "code";

/** Draw the page of one's own account. */
export function showOwn(/** @type {PageContext} */ { main, me, notify, signOut }) {
  const change = form(
    "Change your password",
    [
      h("input", {
        type: "text",
        name: "name",
        value: me.name,
        autocomplete: "username",
        hidden: true,
        "aria-hidden": "true",
        tabindex: -1,
      }),
      field("Password now", { name: "old", type: "password", autocomplete: "current-password" }),
      field(
        "New password",
        { name: "new", type: "password", autocomplete: "new-password", minlength: 12 },
        "12 characters or more, not easily guessed and not used before.",
      ),
    ],
    "Change it",
    async (sent) => {
      await post("/api/me/password", { old: sent.old, new: sent.new });
      notify("Changed. Sign in with the new password.", "good");
      await signOut();
    },
  );
  const due =
    me.password === "due" &&
    h(
      "p",
      { class: "notice", role: "status" },
      "Your password is temporary or expired: change it before anything else.",
    );
  put(
    main,
    h(
      "header",
      { class: "head" },
      h("div", {}, h("h1", {}, me.name), h("p", { class: "quiet" }, `Role: ${me.role}`)),
      h("a", { class: "button", href: "/api/docs" }, "HTTP API"),
      h("button", { type: "button", onclick: signOut }, "Sign out"),
    ),
    h(
      "div",
      { class: "columns" },
      h(
        "section",
        { class: "panel" },
        h("h2", {}, "Password"),
        due,
        h("p", { class: "quiet" }, "This ends every session and every token of the account."),
        change,
      ),
      h("section", { class: "panel" }, h("h2", {}, "Second factor"), secondFactor(me, notify, signOut)),
    ),
  );
}

function secondFactor(
  /** @type {Person} */ me,
  /** @type {Notify} */ notify,
  /** @type {() => Promise<void>} */ signOut,
) {
  const place = h("div", {});
  if (me.second_factor === "on") drawFactorOn(place, notify, signOut);
  else drawFactorOff(place, notify);
  return place;
}

const password = () => field("Your password", { name: "password", type: "password", autocomplete: "current-password" });

function drawFactorOff(/** @type {HTMLElement} */ place, /** @type {Notify} */ notify) {
  put(
    place,
    h("p", { class: "quiet" }, "A code from an authenticator app, required at sign-in."),
    form("Set up an authenticator", [password()], "Set it up", async (sent) =>
      enrol(place, await post("/api/me/second-factor", sent), notify),
    ),
  );
}

function drawFactorOn(
  /** @type {HTMLElement} */ place,
  /** @type {Notify} */ notify,
  /** @type {() => Promise<void>} */ signOut,
) {
  put(
    place,
    h("p", {}, h("span", { class: "good" }, "On."), " Sign-in requires a code."),
    form(
      "Turn it off",
      [
        password(),
        field(
          "Code",
          { name: "code", autocomplete: "one-time-code", minlength: 6, maxlength: 40 },
          "Six digits, or one of your recovery codes.",
        ),
      ],
      "Turn it off",
      async (sent) => {
        await post("/api/me/second-factor/removal", sent);
        notify("The second factor is off.", "good");
        await signOut();
      },
    ),
  );
}

function enrol(/** @type {HTMLElement} */ place, /** @type {Answer} */ made, /** @type {Notify} */ notify) {
  put(
    place,
    h(
      "p",
      {},
      "Enter this secret in your authenticator, or open the link on the device that has it; then confirm with its code.",
    ),
    h("p", { class: "mono secret" }, made.secret),
    h("p", {}, h("a", { href: made.uri }, "Open in an authenticator")),
    form(
      "Confirm",
      [
        field("Code", {
          name: "code",
          inputmode: "numeric",
          autocomplete: "one-time-code",
          minlength: 6,
          maxlength: 8,
        }),
      ],
      "Confirm",
      async (sent) => {
        const { codes } = await post("/api/me/second-factor/confirmation", sent);
        notify("The second factor is on.", "good");
        put(
          place,
          h("p", {}, "On. Keep these recovery codes; each works once and they are not shown again."),
          h(
            "ul",
            { class: "mono codes" },
            codes.map((/** @type {string} */ one) => h("li", {}, one)),
          ),
        );
      },
    ),
  );
}
