/** The page itself, which takes no focus of its own otherwise. */
const toPage = (): void => {
  const page = document.querySelector('main');
  page?.setAttribute('tabindex', '-1');
  page?.focus();
};

/** The way past the navigation, for whoever works by the keyboard; it is seen when it has the focus. */
export const SkipLink = () => (
  <a
    className="skip-link"
    href="#page"
    onClick={(event) => {
      // The address of the page stays as it is.
      event.preventDefault();
      toPage();
    }}
  >
    Skip to the page
  </a>
);
